-- One row for each login, until it ends: access tokens name it, refresh tokens belong to it.
CREATE TABLE sessions (
  id            uuid PRIMARY KEY,
  user_id       integer NOT NULL REFERENCES users,
  started_at    timestamptz NOT NULL,
  -- Of the login or of the last refresh.
  last_used_at  timestamptz NOT NULL,
  -- No refresh moves it.
  expires_at    timestamptz NOT NULL,
  -- Where it was last used from, and by which program.
  address       text NOT NULL,
  user_agent    text NOT NULL,
  -- Whether the login proved a second factor.
  second_factor boolean NOT NULL
);

CREATE INDEX sessions_by_user ON sessions (user_id, last_used_at);

ALTER TABLE refresh_tokens ADD COLUMN session_id uuid;

UPDATE refresh_tokens SET session_id = gen_random_uuid();

INSERT INTO sessions (id, user_id, started_at, last_used_at, expires_at, address, user_agent, second_factor)
SELECT session_id, user_id, expires_at - interval '30 days', expires_at - interval '30 days', expires_at, '', '', false
FROM refresh_tokens;

ALTER TABLE refresh_tokens
  ALTER COLUMN session_id SET NOT NULL,
  ADD CONSTRAINT refresh_tokens_session FOREIGN KEY (session_id) REFERENCES sessions ON DELETE CASCADE;

CREATE INDEX refresh_tokens_by_session ON refresh_tokens (session_id);

-- Where users logged in from lately; an IPv6 address stands for its /64.
CREATE TABLE login_addresses (
  user_id integer NOT NULL REFERENCES users,
  address text NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (user_id, address)
);
