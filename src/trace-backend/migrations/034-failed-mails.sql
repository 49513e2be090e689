-- Mails that were given up. A row has no secret and no address: each attempt writes the mail again.
CREATE TABLE failed_mails (
  id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Of the last job that was to send it.
  mail_id       uuid NOT NULL UNIQUE,
  -- The job without its id.
  job           jsonb NOT NULL,
  user_id       integer REFERENCES users,
  invitation_id integer REFERENCES company_address_invitations ON DELETE CASCADE,
  -- QUEUED: it is being sent again; OBSOLETE: there was no reason any more to send it.
  status        text NOT NULL CHECK (status IN ('FAILED', 'QUEUED', 'OBSOLETE')),
  attempts      integer NOT NULL,
  last_error    text NOT NULL,
  failed_at     timestamptz NOT NULL,
  CHECK ((user_id IS NULL) <> (invitation_id IS NULL))
);

CREATE INDEX failed_mails_by_status ON failed_mails (status, id);
CREATE INDEX failed_mails_by_user ON failed_mails (user_id);
CREATE INDEX failed_mails_by_invitation ON failed_mails (invitation_id);
CREATE INDEX failed_mails_by_time ON failed_mails (failed_at);
