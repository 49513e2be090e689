-- Aborts a transaction that relies on a state of the fields which has ended (docs/decisions/geoids.md). ZF001 is ours:
-- PostgreSQL and the standard use no class that begins with Z. On Citus it runs on the coordinator, where field_state is.
CREATE FUNCTION require_field_state(expected uuid) RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM packet_service.field_state WHERE state = expected) THEN
    RAISE EXCEPTION 'the fields are no longer in the state %', expected USING ERRCODE = 'ZF001';
  END IF;
END $$;
