-- What processes keep in memory of field_cells is valid as long as this is the same: one row, with another value after
-- each change. Random, so that no value comes again, also after a failover to a server that lacks changes. A trigger,
-- so that changes by other versions of the program count, too. A local table on the coordinator when the database is
-- distributed.
CREATE TABLE field_state (
  one   boolean PRIMARY KEY DEFAULT true CHECK (one),
  state uuid NOT NULL
);
INSERT INTO field_state (state) VALUES (gen_random_uuid());

CREATE FUNCTION change_field_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Of this schema, whatever the session's search_path.
  EXECUTE format('UPDATE %I.field_state SET state = gen_random_uuid()', TG_TABLE_SCHEMA);
  RETURN NULL;
END $$;

CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON field_cells
  FOR EACH STATEMENT EXECUTE FUNCTION change_field_state();

-- With two roles, rights are granted after a migration (docs/operations.md, "Two roles"). Processes of the version before
-- register fields meanwhile, and the trigger runs with their rights.
DO $$
DECLARE
  writer oid;
BEGIN
  FOR writer IN
    SELECT grantee FROM pg_class, aclexplode(relacl)
    WHERE oid = 'field_cells'::regclass AND privilege_type = 'INSERT' AND grantee <> 0 AND grantee <> relowner
  LOOP
    EXECUTE format('GRANT SELECT, UPDATE ON field_state TO %s', writer::regrole);
  END LOOP;
END $$;
