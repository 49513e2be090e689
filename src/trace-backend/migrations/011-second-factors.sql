-- Second factors (RFC 6238). The secret is encrypted where SECRETS_KEY is set.
CREATE TABLE second_factors (
  user_id      integer PRIMARY KEY REFERENCES users,
  secret       text NOT NULL,
  -- Until the user has shown a code of it, it is not asked for.
  confirmed_at timestamptz,
  -- The step of time of the last code that was accepted: none at or before it counts again.
  last_step    bigint NOT NULL
);

-- Codes for when the device is lost, each good once. Only the SHA-256 is kept.
CREATE TABLE recovery_codes (
  user_id integer NOT NULL REFERENCES users,
  hash    bytea NOT NULL,
  PRIMARY KEY (user_id, hash)
);
