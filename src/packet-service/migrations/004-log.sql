-- The log: everything that happened, each entry at a position that never moves, without gaps. Local tables on the
-- coordinator when the database is distributed. docs/decisions/packet-log.md has the proof.
CREATE TYPE packet_log_kind AS ENUM ('packet', 'chat.message', 'share.created', 'invitation.sent');

-- What has been committed and has no position yet. One row holds the events of one batch as arrays, an element each;
-- an array of nulls alone is null as a whole. Rows are deleted soon after they come. The index lets a reader step
-- over the dead ones, which stay for as long as somebody's snapshot needs them.
CREATE TABLE packet_log_queue (
  xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
  kinds        packet_log_kind[] NOT NULL,
  packet_ids   uuid[],
  thread_ids   uuid[],
  user_ids     text[],
  geoid_keys   bigint[],
  -- Each element is an array of bigint, as text.
  further_keys text[],
  details      jsonb[]
) WITH (
  -- A full batch has some kilobytes of ids: nothing to compress or to put elsewhere for a moment.
  toast_tuple_target = 8160,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX packet_log_queue_by_xid ON packet_log_queue (xid);

CREATE TABLE packet_log (
  position     bigint PRIMARY KEY,
  packet_id    uuid,
  -- Of the packet's own GeoID, the first 8 bytes of its SHA-256; and those of its further ones.
  geoid_key    bigint,
  further_keys bigint[],
  kind         packet_log_kind NOT NULL,
  thread_id    uuid,
  user_id      text COLLATE "C",
  details      jsonb
);

-- An index by GeoID was measured and is not here: keys in no order cost more than all the rest of the log.
CREATE INDEX packet_log_by_packet ON packet_log (packet_id);
CREATE INDEX packet_log_by_thread ON packet_log (thread_id, position) WHERE thread_id IS NOT NULL;
CREATE INDEX packet_log_by_user ON packet_log (user_id, position) WHERE user_id IS NOT NULL;

-- Packets that were there before the log, in the order of their ids.
INSERT INTO packet_log (position, packet_id, geoid_key, further_keys, kind, thread_id)
WITH keyed AS (
  SELECT packet_id, array_agg(('x' || encode(substr(sha256(convert_to(geoid, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint)
    AS further_keys
  FROM packet_geoids GROUP BY packet_id
)
SELECT row_number() OVER (ORDER BY id), id,
  CASE WHEN geoid <> ''
    THEN ('x' || encode(substr(sha256(convert_to(geoid, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint END,
  further_keys, CASE WHEN thread_id IS NULL THEN 'packet' ELSE 'chat.message' END::packet_log_kind, thread_id
FROM packets LEFT JOIN keyed ON keyed.packet_id = id;

REVOKE UPDATE, DELETE, TRUNCATE ON packet_log FROM CURRENT_USER;
