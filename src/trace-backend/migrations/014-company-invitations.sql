-- Users who were asked to act for a company and have not answered. They are in company_users once they accept; whoever
-- was there before stays.
CREATE TABLE company_invitations (
  company_id integer NOT NULL REFERENCES companies,
  user_id    integer NOT NULL REFERENCES users,
  role       text NOT NULL CHECK (role IN ('COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT')),
  invited_by integer NOT NULL REFERENCES users,
  invited_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, company_id)
);

CREATE INDEX company_invitations_by_company ON company_invitations (company_id, user_id);

-- The SHA-256 of the codes that were mailed for them.
CREATE TABLE company_invitation_tokens (
  hash       bytea PRIMARY KEY,
  company_id integer NOT NULL,
  user_id    integer NOT NULL,
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (user_id, company_id) REFERENCES company_invitations ON DELETE CASCADE
);

CREATE INDEX company_invitation_tokens_by_invitation ON company_invitation_tokens (user_id, company_id);

-- When users sent their invitations of the last hour.
CREATE TABLE company_inviters (
  user_id integer PRIMARY KEY REFERENCES users,
  sent    timestamptz[] NOT NULL
);
