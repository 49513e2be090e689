-- The tables of the packet service by group and feature, from the ground up (ARCHITECTURE.md). They follow the rules
-- that let PostgreSQL distribute them (docs/scale-out.md): packets and messages are distributed, all others are local
-- tables of the coordinator (placements.ts). Only code connects tables of different features.
--
-- Columns named author hold the user of the token that the row was written with. They are null without a token, and in
-- rows that are older than the column.

-- === platform: files, callers ===

-- Which file store holds this service's files: one row, as soon as it is known.
CREATE TABLE file_store (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  id          uuid NOT NULL,
  recorded_at timestamptz NOT NULL
);

-- Processes that serve, and until when each says that it does. A crash of the server empties this table and the next
-- one; each process then enters its places again. Both are read only on the primary.
CREATE UNLOGGED TABLE serving_processes (
  id    uuid PRIMARY KEY,
  until timestamptz NOT NULL
);

-- The places of a caller that are in use over all processes (uploads, exports, feeds, waiting requests), and which
-- process holds each.
CREATE UNLOGGED TABLE caller_places (
  kind    text NOT NULL,
  caller  text NOT NULL,
  slot    integer NOT NULL,
  process uuid NOT NULL,
  PRIMARY KEY (kind, caller, slot)
);

-- === core: audit ===

-- The commands that operators ran. Append-only.
CREATE TABLE audit (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL,
  command text NOT NULL,
  details jsonb NOT NULL
);

REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM CURRENT_USER;

-- === core: access ===

-- Every user identifier that a valid token ever named: requests without a token cannot use these names.
CREATE TABLE token_users (
  user_id    text COLLATE "C" PRIMARY KEY,
  first_seen timestamptz NOT NULL
);

-- === core: idempotency ===

-- The first answer to a request with an Idempotency-Key, for clients that send it again.
CREATE TABLE idempotency_keys (
  caller      text NOT NULL,
  route       text NOT NULL,
  key         text NOT NULL,
  fingerprint bytea NOT NULL,
  status      smallint NOT NULL,
  answer      text NOT NULL,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (caller, route, key)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- === core: log ===

-- The log has everything that happened, each entry at a position that never changes, without gaps. The proof is in
-- docs/decisions/packet-log.md.
CREATE TYPE packet_log_kind AS ENUM ('packet', 'chat.message', 'share.created', 'invitation.sent', 'erased');

-- The outbox: events that are committed and have no position yet. A row holds the events of one batch as arrays, one
-- element per event; an array that would contain only nulls is null. Rows are deleted soon after they are written.
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
  -- The ids of a full batch take some kilobytes: compressing or moving them for such a short time is not worth it.
  toast_tuple_target = 8160,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_cost_delay = 0
);

-- Lets readers skip dead rows, which remain as long as a snapshot needs them.
CREATE INDEX packet_log_queue_by_xid ON packet_log_queue (xid);

CREATE TABLE packet_log (
  position     bigint PRIMARY KEY,
  packet_id    uuid,
  -- The first 8 bytes of the SHA-256 of the packet's own GeoID; the next column has those of its further ones.
  geoid_key    bigint,
  further_keys bigint[],
  kind         packet_log_kind NOT NULL,
  thread_id    uuid,
  user_id      text COLLATE "C",
  details      jsonb,
  -- Random bits of the round that appended the entry. They distinguish a position of this log from that of another one,
  -- such as the log before a restore. Null in entries that older versions appended.
  tag          integer,
  -- On the last entry of each round: the latest time that the clock of any process had shown. Null in entries that
  -- older versions appended.
  clock        timestamptz
);

-- There is no index by GeoID: its keys have no order, and maintaining it costs more than the rest of the log
-- (measured).
CREATE INDEX packet_log_by_packet ON packet_log (packet_id);
CREATE INDEX packet_log_by_thread ON packet_log (thread_id, position) WHERE thread_id IS NOT NULL;
CREATE INDEX packet_log_by_user ON packet_log (user_id, position) WHERE user_id IS NOT NULL;
-- Tells clients that follow a further GeoID of an erasure: the packet is no longer found by that GeoID.
CREATE INDEX packet_log_erased ON packet_log (position) WHERE kind = 'erased';

REVOKE UPDATE, DELETE, TRUNCATE ON packet_log FROM CURRENT_USER;

-- === core: packets, writer ===

-- Packets are written once. header and body are the canonical JSON that was hashed, and are returned unchanged; the
-- columns next to them only serve queries.
CREATE TABLE packets (
  id        uuid PRIMARY KEY,
  geoid     text NOT NULL,
  ts        timestamptz NOT NULL,
  type      text NOT NULL,
  thread_id uuid,
  lat       double precision,
  lon       double precision,
  -- Number of the level-20 S2 cell of the capture point.
  cell      bigint,
  header    text NOT NULL,
  body      text NOT NULL,
  footer    text NOT NULL,
  author    text COLLATE "C",
  -- True for messages of threads that were created with a token: requests without one cannot reach them
  -- (AUTH_MODE=optional). Null for all other packets. It never changes.
  closed    boolean,
  -- The row of an erased packet remains, with Header and hash: docs/decisions/erasure.md.
  erased_at timestamptz
);

CREATE INDEX packets_by_geoid ON packets (geoid, ts DESC, id DESC);
CREATE INDEX packets_by_type ON packets (type, ts DESC, id DESC);
CREATE INDEX packets_by_time ON packets (ts DESC, id DESC);
CREATE INDEX packets_by_cell ON packets (cell) WHERE cell IS NOT NULL;

-- The further GeoIDs of a packet; its first one is packets.geoid. ts repeats the packet's, so that a page by GeoID is
-- one index scan in this table, too.
CREATE TABLE packet_geoids (
  packet_id uuid NOT NULL,
  geoid     text NOT NULL,
  ts        timestamptz NOT NULL,
  PRIMARY KEY (packet_id, geoid)
);

CREATE INDEX packet_geoids_by_geoid ON packet_geoids (geoid, ts DESC, packet_id DESC);

-- Which packets name which attachments of this service, whether or not the file has arrived. thread_id repeats the
-- packet's, so that one lookup decides who can read an attachment.
CREATE TABLE packet_attachments (
  packet_id     uuid NOT NULL,
  attachment_id uuid NOT NULL,
  thread_id     uuid,
  PRIMARY KEY (packet_id, attachment_id)
);

CREATE INDEX packet_attachments_by_attachment ON packet_attachments (attachment_id, thread_id);

-- Who first named an attachment that packets name. If that was a user with a token, only they can upload the file.
-- Naming it again changes nothing, also where author is null because the attachment was named before this table
-- existed.
CREATE TABLE attachment_claims (
  attachment_id uuid PRIMARY KEY,
  author        text COLLATE "C",
  -- The hash of the file, if that first reference contains one.
  sha256        bytea
);

-- Immutability without triggers, which distributed tables do not have: the owner cannot change a row either.
REVOKE UPDATE, DELETE, TRUNCATE ON packets, packet_geoids, packet_attachments, attachment_claims FROM CURRENT_USER;

-- === core: geoids ===

-- Registered fields: grounds that give the points inside them a GeoID. They are written once. A field that no packet
-- names can be deleted by the user who registered it.
CREATE TABLE fields (
  geoid        text COLLATE "C" PRIMARY KEY,
  name         text,
  -- GeoJSON geometry as sent, in degrees.
  boundary     text NOT NULL,
  area_m2      double precision NOT NULL,
  -- x is the longitude, which continues past 180 where the field crosses the date line.
  bounds       box NOT NULL,
  -- Number of level-20 S2 cells that the ground meets: fields with a very different number cannot be the same ground.
  ground_cells integer NOT NULL,
  created_at   timestamptz NOT NULL,
  author       text COLLATE "C"
);

CREATE INDEX fields_by_bounds ON fields USING gist (bounds);
-- Finds fields by the beginning of their names, regardless of case.
CREATE INDEX fields_by_name ON fields (lower(name) text_pattern_ops, geoid) WHERE name IS NOT NULL;

-- The S2 cells that cover each field, all of one level for one field. A point looks for the cells around it.
CREATE TABLE field_cells (
  cell  bigint NOT NULL,
  geoid text COLLATE "C" NOT NULL,
  PRIMARY KEY (cell, geoid)
);

REVOKE UPDATE, TRUNCATE ON fields, field_cells FROM CURRENT_USER;

-- The GeoID of a deleted field is not given to another boundary: a process may remember it for the one it had.
CREATE TABLE deleted_fields (
  geoid      text COLLATE "C" PRIMARY KEY,
  boundary   text NOT NULL,
  deleted_at timestamptz NOT NULL
);

-- What processes keep in memory of field_cells is valid while this one row is unchanged; each change gives it another
-- value. The values are random, so that none is repeated, even after a failover to a server that lacks changes. A
-- trigger writes them, so that changes by other versions of the program count, too.
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

-- === collaboration: chat ===

-- Threads, their participants, and messages as lists and search read them. All three begin with thread_id, which
-- distributes them together. Each message is also a packet.
CREATE TABLE chat_threads (
  thread_id  uuid PRIMARY KEY,
  name       text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  author     text COLLATE "C"
);

CREATE TABLE chat_participants (
  thread_id     uuid NOT NULL,
  user_id       text COLLATE "C" NOT NULL,
  added_at      timestamptz NOT NULL,
  -- Position of the log up to which the participant has read the thread; null before they have read anything.
  read_position bigint,
  PRIMARY KEY (thread_id, user_id)
);

CREATE INDEX chat_participants_by_user ON chat_participants (user_id, thread_id DESC);

-- Has everything that an item of a list contains, so that no list or search reads packets. folded, pieces, their
-- indexes and chat_words serve search: docs/decisions/chat-search.md.
CREATE TABLE chat_messages (
  thread_id uuid NOT NULL,
  ts        timestamptz NOT NULL,
  packet_id uuid NOT NULL,
  -- Null where it is the same as folded: messages in scripts without upper case, and most others.
  text      text,
  folded    text COLLATE "C" NOT NULL,
  geoid     text NOT NULL,
  -- The further GeoIDs, if there are any.
  geoids    text[],
  -- Header.timestamp, if it is not simply ts in UTC with three decimals.
  sent      text,
  pieces    integer[] NOT NULL,
  PRIMARY KEY (thread_id, ts, packet_id) INCLUDE (folded)
) WITH (
  -- Index-only scans need the visibility map to follow the newest rows; a pass over an append-only table is short.
  autovacuum_vacuum_insert_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.01
);

COMMENT ON COLUMN chat_messages.text IS 'null where it is the same as folded';

CREATE INDEX chat_messages_by_time ON chat_messages (ts, packet_id) INCLUDE (thread_id, folded);

-- Every search reads the entries that wait to be merged into this index. The process merges them every few seconds
-- (pending-list.ts); the limit, in kilobytes, is for times when it cannot.
CREATE INDEX chat_messages_by_piece ON chat_messages USING gin (pieces) WITH (gin_pending_list_limit = 16384);

-- The program chooses how to search; statistics of these columns, and of the words below, would only take time.
ALTER TABLE chat_messages
  ALTER COLUMN text SET STATISTICS 0,
  ALTER COLUMN folded SET STATISTICS 0,
  ALTER COLUMN geoids SET STATISTICS 0,
  ALTER COLUMN sent SET STATISTICS 0,
  ALTER COLUMN pieces SET STATISTICS 0;

REVOKE UPDATE, DELETE, TRUNCATE ON chat_messages FROM CURRENT_USER;

-- The words of all messages, each once, found by any part of them.
CREATE TABLE chat_words (
  word   text COLLATE "C" PRIMARY KEY,
  tokens tsvector NOT NULL
);

CREATE INDEX chat_words_by_token ON chat_words USING gin (tokens);

ALTER TABLE chat_words ALTER COLUMN word SET STATISTICS 0, ALTER COLUMN tokens SET STATISTICS 0;

-- Merges the entries that wait in chat_messages_by_piece. Only the owner of an index can do that, and the role of the
-- services need not be the owner. Where messages are distributed (Citus), the index of each shard has its own entries.
CREATE FUNCTION merge_messages() RETURNS bigint
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

REVOKE ALL ON FUNCTION merge_messages() FROM PUBLIC;

-- === collaboration: directory of sharing ===

-- Which users can be found, and by which contacts.
CREATE TABLE directory_users (
  user_id      text COLLATE "C" PRIMARY KEY,
  discoverable boolean NOT NULL,
  updated_at   timestamptz NOT NULL
);

CREATE TABLE directory_contacts (
  user_id      text COLLATE "C" NOT NULL REFERENCES directory_users ON DELETE CASCADE,
  contact      text COLLATE "C" NOT NULL,
  -- A contact that is not confirmed is only a claim, and does not lead to its user.
  confirmed_at timestamptz,
  PRIMARY KEY (user_id, contact)
);

CREATE UNIQUE INDEX directory_contacts_confirmed ON directory_contacts (contact) WHERE confirmed_at IS NOT NULL;

-- The SHA-256 of secrets in mails. A secret is made when its mail is sent, and is stored nowhere.
CREATE TABLE directory_confirmations (
  token_hash bytea PRIMARY KEY,
  user_id    text COLLATE "C" NOT NULL,
  contact    text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE INDEX directory_confirmations_by_age ON directory_confirmations (expires_at);

-- Which contacts a sender has looked up recently.
CREATE TABLE directory_lookups (
  sender  text COLLATE "C" NOT NULL,
  contact text COLLATE "C" NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (sender, contact)
);

CREATE INDEX directory_lookups_by_age ON directory_lookups (at);

-- === collaboration: shares ===

-- A share, or an invitation: a share that does not have its recipient yet.
CREATE TABLE shares (
  share_id   uuid PRIMARY KEY,
  packet_id  uuid NOT NULL,
  from_user  text COLLATE "C" NOT NULL,
  contact    text COLLATE "C" NOT NULL,
  to_user    text COLLATE "C",
  status     text NOT NULL CHECK (status IN ('invited', 'pending', 'accepted', 'rejected')),
  -- When it became an invitation or a share; for an invitation, when it was last sent.
  created_at timestamptz NOT NULL,
  author     text COLLATE "C",
  CHECK ((status = 'invited') = (to_user IS NULL)),
  UNIQUE (packet_id, from_user, contact)
);

CREATE INDEX shares_by_recipient ON shares (to_user, created_at DESC, share_id DESC);
CREATE INDEX shares_by_status ON shares (to_user, status, created_at DESC, share_id DESC);
CREATE INDEX shares_invited ON shares (contact, created_at) WHERE status = 'invited';

CREATE TABLE invitation_tokens (
  token_hash bytea PRIMARY KEY,
  contact    text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE INDEX invitation_tokens_by_contact ON invitation_tokens (contact);
CREATE INDEX invitation_tokens_by_age ON invitation_tokens (expires_at);

-- === collaboration: notifications ===

CREATE TABLE notifications (
  notification_id uuid PRIMARY KEY,
  type            text NOT NULL CHECK (type IN ('share.created', 'invitation.sent')),
  -- Null while the contact of an invitation belongs to no known user.
  user_id         text COLLATE "C",
  contact         text COLLATE "C" NOT NULL,
  packet_id       uuid NOT NULL,
  share_id        uuid NOT NULL,
  from_user       text COLLATE "C" NOT NULL,
  created_at      timestamptz NOT NULL,
  author          text COLLATE "C"
);

CREATE INDEX notifications_by_user ON notifications (user_id, notification_id DESC) WHERE user_id IS NOT NULL;

CREATE TABLE notification_deliveries (
  notification_id uuid NOT NULL REFERENCES notifications,
  channel         text NOT NULL CHECK (channel IN ('mail', 'webhook')),
  -- The recipient of a mail.
  address         text,
  -- dead: given up; obsolete: the share or invitation was answered before its mail was sent; dismissed: given up, and
  -- an administrator decided that it need not arrive.
  status          text NOT NULL CHECK (status IN ('queued', 'delivered', 'dead', 'obsolete', 'dismissed')),
  attempts        integer NOT NULL,
  last_error      text,
  last_attempt_at timestamptz,
  delivered_at    timestamptz,
  -- When somebody last had it sent again after it was given up.
  replayed_at     timestamptz,
  PRIMARY KEY (notification_id, channel)
);

CREATE INDEX notification_deliveries_dead ON notification_deliveries (notification_id) WHERE status = 'dead';

-- The last mail that was sent, and the last one that failed: one row each.
CREATE TABLE mail_outcomes (
  outcome text PRIMARY KEY CHECK (outcome IN ('sent', 'failed')),
  at      timestamptz NOT NULL,
  -- Why it failed, without addresses.
  error   text
);

-- === intake: attachments ===

-- Files of packets.
CREATE TABLE attachments (
  attachment_id uuid PRIMARY KEY,
  sha256        bytea NOT NULL,
  size          bigint NOT NULL,
  content_type  text NOT NULL,
  name          text NOT NULL,
  user_id       text COLLATE "C",
  uploaded_at   timestamptz NOT NULL,
  -- Whether a packet is known to name it. Packets remain, so it is not checked again after that.
  referenced    boolean NOT NULL DEFAULT false
);

CREATE INDEX attachments_by_content ON attachments (sha256);
CREATE INDEX attachments_unreferenced ON attachments (uploaded_at, attachment_id) WHERE NOT referenced;

-- What the file store holds, each content once. unused_since is set while no attachment has the content, or while it is
-- being uploaded; contents are removed only a day later. docs/decisions/attachments.md explains why that is safe.
CREATE TABLE attachment_contents (
  sha256       bytea PRIMARY KEY,
  unused_since timestamptz
);

CREATE INDEX attachment_contents_unused ON attachment_contents (unused_since) WHERE unused_since IS NOT NULL;

-- Resumable uploads. What has arrived is kept as pieces, each under its own key in the file store.
CREATE TABLE attachment_uploads (
  upload_id     uuid PRIMARY KEY,
  attachment_id uuid NOT NULL,
  user_id       text COLLATE "C",
  name          text NOT NULL,
  metadata      text NOT NULL,
  -- Null while the client does not know the length of its file (tus: creation-defer-length).
  length        bigint,
  received      bigint NOT NULL DEFAULT 0,
  pieces        uuid[] NOT NULL DEFAULT '{}',
  created_at    timestamptz NOT NULL
);

CREATE INDEX attachment_uploads_by_age ON attachment_uploads (created_at);

-- === reading: tiles ===

-- Counts for maps: docs/decisions/tiles.md. A row has the number of observations (layer 1) or fields (layer 2) of an S2
-- cell within a tile of zoom 2 * grid + 1, which x and y number.
CREATE TABLE tile_cells (
  layer  smallint NOT NULL,
  grid   smallint NOT NULL,
  x      smallint NOT NULL,
  y      smallint NOT NULL,
  cell   bigint NOT NULL,
  count  bigint NOT NULL,
  -- Sums of positions in the Web Mercator square, which has 2^31 units along each side.
  sum_x  bigint NOT NULL,
  sum_y  bigint NOT NULL,
  -- The packet's id or the field's GeoID, if the first one counted is the only one.
  single text COLLATE "C",
  PRIMARY KEY (layer, grid, x, y, cell)
) WITH (fillfactor = 80);

-- The fields that are counted, and at which position.
CREATE TABLE tile_fields (
  geoid text COLLATE "C" PRIMARY KEY,
  x     bigint NOT NULL,
  y     bigint NOT NULL,
  cell  bigint NOT NULL
);

-- Up to which position of the log observations are counted: one row, as soon as any is.
CREATE TABLE tile_state (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  position bigint NOT NULL
);

-- === maintenance: erasure ===

-- The packets that operators erased, and why.
CREATE TABLE erasures (
  packet_id uuid PRIMARY KEY,
  erased_at timestamptz NOT NULL,
  reason    text NOT NULL
);
