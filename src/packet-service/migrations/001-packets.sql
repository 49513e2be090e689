-- Packets are written once. header and body are the canonical JSON that was hashed, given back as they stand;
-- the columns beside them only serve queries. cell numbers the level-20 S2 cell of the capture point.
CREATE TABLE packets (
  id        uuid PRIMARY KEY,
  geoid     text NOT NULL,
  ts        timestamptz NOT NULL,
  type      text NOT NULL,
  thread_id uuid,
  lat       double precision,
  lon       double precision,
  cell      bigint,
  header    text NOT NULL,
  body      text NOT NULL,
  footer    text NOT NULL
);

CREATE INDEX packets_by_geoid ON packets (geoid, ts DESC, id DESC);
CREATE INDEX packets_by_type ON packets (type, ts DESC, id DESC);
CREATE INDEX packets_by_time ON packets (ts DESC, id DESC);
CREATE INDEX packets_by_cell ON packets (cell) WHERE cell IS NOT NULL;

-- The further GeoIDs of a packet; its first one is packets.geoid. ts repeats the packet's, so that a
-- page by GeoID is one index scan here as there.
CREATE TABLE packet_geoids (
  packet_id uuid NOT NULL,
  geoid     text NOT NULL,
  ts        timestamptz NOT NULL,
  PRIMARY KEY (packet_id, geoid)
);

CREATE INDEX packet_geoids_by_geoid ON packet_geoids (geoid, ts DESC, packet_id DESC);

-- The first answer to a request that carried an Idempotency-Key, for whoever sends it again.
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

-- Immutability without triggers, which distributed tables do not have: not even the owner may change a row.
REVOKE UPDATE, DELETE, TRUNCATE ON packets, packet_geoids FROM CURRENT_USER;
