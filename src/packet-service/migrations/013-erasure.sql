-- Erasing a packet: docs/decisions/erasure.md. Its row stays, with Header and hash.
ALTER TYPE packet_log_kind ADD VALUE 'erased';
ALTER TABLE packets ADD COLUMN erased_at timestamptz;

-- What operators erased and why. A local table on the coordinator when the database is distributed.
CREATE TABLE erasures (
  packet_id uuid PRIMARY KEY,
  erased_at timestamptz NOT NULL,
  reason    text NOT NULL
);
