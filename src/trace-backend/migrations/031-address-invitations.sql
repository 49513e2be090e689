-- Invitations of companies to e-mail addresses, whether or not an account has them. Who has the address accepts or
-- declines. The audit names them by their id, because it is never erased.
CREATE TABLE company_address_invitations (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  company_id integer NOT NULL REFERENCES companies,
  -- As the company typed it, and in the form by which accounts are looked up.
  email      text NOT NULL,
  email_key  text COLLATE "C" NOT NULL,
  role       text NOT NULL CHECK (role IN ('COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT')),
  invited_by integer NOT NULL REFERENCES users,
  invited_at timestamptz NOT NULL,
  UNIQUE (company_id, email_key)
);

CREATE INDEX company_address_invitations_by_address ON company_address_invitations (email_key, company_id);
CREATE INDEX company_address_invitations_by_time ON company_address_invitations (invited_at);

-- The SHA-256 of the codes that were mailed for them.
CREATE TABLE company_address_invitation_tokens (
  hash          bytea PRIMARY KEY,
  invitation_id integer NOT NULL REFERENCES company_address_invitations ON DELETE CASCADE,
  expires_at    timestamptz NOT NULL
);

CREATE INDEX company_address_invitation_tokens_by_invitation ON company_address_invitation_tokens (invitation_id);
