-- Who may come in, and what they did. Times are given by the program, never by the server's clock, so that one
-- action bears one time everywhere.
CREATE TABLE users (
  id              integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- As it was typed, for mails; the same address in the form by which it is looked for.
  email           text NOT NULL,
  email_key       text COLLATE "C" NOT NULL CONSTRAINT users_email_key UNIQUE,
  -- Argon2id in PHC string format.
  password        text NOT NULL,
  name            text NOT NULL,
  surname         text NOT NULL,
  language        text NOT NULL,
  status          text NOT NULL CHECK (status IN ('UNCONFIRMED', 'CONFIRMED_EMAIL', 'ACTIVE', 'DEACTIVATED')),
  role            text NOT NULL CHECK (role IN ('USER', 'REGIONAL_ADMIN', 'SYSTEM_ADMIN')),
  discoverable    boolean NOT NULL DEFAULT false,
  -- Tokens carry the version they were made under; a higher one here ends them all.
  session_version integer NOT NULL DEFAULT 1,
  created_at      timestamptz NOT NULL
);

CREATE INDEX users_by_role ON users (role) WHERE role <> 'USER';

-- What a mailed link proves. Only the SHA-256 of the secret is kept.
CREATE TABLE mail_tokens (
  hash       bytea PRIMARY KEY,
  user_id    integer NOT NULL REFERENCES users,
  purpose    text NOT NULL CHECK (purpose IN ('CONFIRM_EMAIL', 'RESET_PASSWORD')),
  expires_at timestamptz NOT NULL
);

CREATE INDEX mail_tokens_by_user ON mail_tokens (user_id, purpose);

-- When a user was last sent a mail of a kind that anybody can ask for.
CREATE TABLE mail_requests (
  user_id integer NOT NULL REFERENCES users,
  purpose text NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (user_id, purpose)
);

CREATE TABLE refresh_tokens (
  hash            bytea PRIMARY KEY,
  user_id         integer NOT NULL REFERENCES users,
  session_version integer NOT NULL,
  expires_at      timestamptz NOT NULL,
  -- When it was exchanged for its successor.
  used_at         timestamptz
);

CREATE INDEX refresh_tokens_by_user ON refresh_tokens (user_id, expires_at);

-- Failed logins of the last minutes; an account is named by the SHA-256 of what was typed, known or not.
CREATE TABLE login_failures (
  account bytea NOT NULL,
  address text NOT NULL,
  at      timestamptz NOT NULL
);

CREATE INDEX login_failures_by_account ON login_failures (account, address, at);
CREATE INDEX login_failures_by_time ON login_failures (at);

-- The keys that access tokens are signed with; the newest one signs, earlier ones are published until what they
-- signed has ended.
CREATE TABLE signing_keys (
  kid         text PRIMARY KEY,
  private_key text NOT NULL,
  created_at  timestamptz NOT NULL
);

-- Secrets that the program made for itself at its first start.
CREATE TABLE kept_secrets (
  name  text PRIMARY KEY,
  value text NOT NULL
);

-- Every change of state: who, when, what, from where. Append-only.
CREATE TABLE audit (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at        timestamptz NOT NULL,
  -- The user who did it; null for the program itself and for whoever is not logged in.
  user_id   integer,
  action    text NOT NULL,
  -- What it was done to: the kind of record, and its id.
  entity    text NOT NULL,
  entity_id text NOT NULL,
  address   text NOT NULL,
  details   jsonb NOT NULL
);

CREATE INDEX audit_by_user ON audit (user_id, id);
CREATE INDEX audit_by_entity ON audit (entity, entity_id, id);
CREATE INDEX audit_by_action ON audit (action, id);

REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM CURRENT_USER;
