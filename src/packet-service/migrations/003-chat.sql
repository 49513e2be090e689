-- Threads, who takes part, and the messages as lists and search read them. All three begin with thread_id, which
-- distributes them together. A message is also a packet; the two are tied by the code alone.
CREATE TABLE chat_threads (
  thread_id  uuid PRIMARY KEY,
  name       text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE chat_participants (
  thread_id uuid NOT NULL,
  user_id   text COLLATE "C" NOT NULL,
  added_at  timestamptz NOT NULL,
  PRIMARY KEY (thread_id, user_id)
);

CREATE INDEX chat_participants_by_user ON chat_participants (user_id, thread_id DESC);

-- Everything that a list item holds stands here, so that no list or search reads packets. folded, pieces, their
-- indexes and the dictionary below serve search: docs/decisions/chat-search.md.
CREATE TABLE chat_messages (
  thread_id uuid NOT NULL,
  ts        timestamptz NOT NULL,
  packet_id uuid NOT NULL,
  text      text NOT NULL,
  folded    text COLLATE "C" NOT NULL,
  geoid     text NOT NULL,
  -- The further GeoIDs, where there are any.
  geoids    text[],
  -- Header.timestamp, where it is not simply ts in UTC with three decimals.
  sent      text,
  pieces    integer[] NOT NULL,
  PRIMARY KEY (thread_id, ts, packet_id) INCLUDE (folded)
) WITH (
  -- Index-only scans need the visibility map to follow the newest rows; a pass over an append-only table is short.
  autovacuum_vacuum_insert_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.01
);

CREATE INDEX chat_messages_by_time ON chat_messages (ts, packet_id) INCLUDE (thread_id, folded);

-- What waits to be merged into the index is read by every search: 1 MB are a few thousand messages.
CREATE INDEX chat_messages_by_piece ON chat_messages USING gin (pieces) WITH (gin_pending_list_limit = 1024);

-- The program chooses the way of a search by itself; statistics of these columns would only cost time.
ALTER TABLE chat_messages
  ALTER COLUMN text SET STATISTICS 0,
  ALTER COLUMN folded SET STATISTICS 0,
  ALTER COLUMN geoids SET STATISTICS 0,
  ALTER COLUMN sent SET STATISTICS 0,
  ALTER COLUMN pieces SET STATISTICS 0;

REVOKE UPDATE, DELETE, TRUNCATE ON chat_messages FROM CURRENT_USER;

-- The words that messages are made of, each once, found by any part of them. A local table on the coordinator when
-- the database is distributed.
CREATE TABLE chat_words (
  word   text COLLATE "C" PRIMARY KEY,
  tokens tsvector NOT NULL
);

CREATE INDEX chat_words_by_token ON chat_words USING gin (tokens);

ALTER TABLE chat_words ALTER COLUMN word SET STATISTICS 0, ALTER COLUMN tokens SET STATISTICS 0;
