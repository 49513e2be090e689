-- The commands that operators ran. A local table on the coordinator when the database is distributed.
CREATE TABLE audit (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL,
  command text NOT NULL,
  details jsonb NOT NULL
);

REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM CURRENT_USER;
