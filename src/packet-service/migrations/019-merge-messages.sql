-- Only the owner of an index can merge its pending list, and the role of the services need not be the owner.
CREATE FUNCTION merge_messages() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT pg_catalog.gin_clean_pending_list('packet_service.chat_messages_by_piece') $$;

REVOKE ALL ON FUNCTION merge_messages() FROM PUBLIC;
