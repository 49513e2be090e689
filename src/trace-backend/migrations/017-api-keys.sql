-- Keys for programs. Only the SHA-256 of a key is stored.
CREATE TABLE api_keys (
  id            uuid PRIMARY KEY,
  user_id       integer NOT NULL REFERENCES users,
  hash          bytea NOT NULL UNIQUE,
  name          text NOT NULL,
  scopes        text[] NOT NULL,
  -- Whether the session that created it had proven a second factor.
  second_factor boolean NOT NULL,
  created_at    timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  -- To the minute; null before the first use.
  last_used_at  timestamptz
);

CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at);
