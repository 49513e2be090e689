-- Where messages are distributed (Citus), the index of each shard has a pending list of its own.
CREATE OR REPLACE FUNCTION merge_messages() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
  is_distributed boolean := false;
  failure        text;
  merged         bigint;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ''packet_service.chat_messages''::regclass)'
      INTO is_distributed;
  END IF;
  IF NOT is_distributed THEN
    RETURN gin_clean_pending_list('packet_service.chat_messages_by_piece');
  END IF;
  EXECUTE $query$
    SELECT min(result) FILTER (WHERE NOT success), sum(result::bigint) FILTER (WHERE success)
    FROM run_command_on_shards('packet_service.chat_messages', $command$
      SELECT gin_clean_pending_list(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      WHERE indrelid = '%s'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'gin')$command$)$query$
    INTO failure, merged;
  IF failure IS NOT NULL THEN
    RAISE EXCEPTION 'the index of a shard could not be merged: %', failure;
  END IF;
  RETURN merged;
END $function$;
