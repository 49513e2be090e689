-- Who can be found by which contact; shares and invitations; notifications and what became of them. Local tables on
-- the coordinator when the database is distributed.

CREATE TABLE directory_users (
  user_id      text COLLATE "C" PRIMARY KEY,
  discoverable boolean NOT NULL,
  updated_at   timestamptz NOT NULL
);

CREATE TABLE directory_contacts (
  user_id      text COLLATE "C" NOT NULL REFERENCES directory_users ON DELETE CASCADE,
  contact      text COLLATE "C" NOT NULL,
  -- A contact that is not confirmed is a claim, and leads nobody to its user.
  confirmed_at timestamptz,
  PRIMARY KEY (user_id, contact)
);

CREATE UNIQUE INDEX directory_contacts_confirmed ON directory_contacts (contact) WHERE confirmed_at IS NOT NULL;

-- Secrets out of mails, as their SHA-256. They are made when the mail is, and stand nowhere else.
CREATE TABLE directory_confirmations (
  token_hash bytea PRIMARY KEY,
  user_id    text COLLATE "C" NOT NULL,
  contact    text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE INDEX directory_confirmations_by_age ON directory_confirmations (expires_at);

-- Which contacts a sender has asked about lately.
CREATE TABLE directory_lookups (
  sender  text COLLATE "C" NOT NULL,
  contact text COLLATE "C" NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (sender, contact)
);

CREATE INDEX directory_lookups_by_age ON directory_lookups (at);

-- A share, or an invitation: a share that does not have its recipient yet.
CREATE TABLE shares (
  share_id   uuid PRIMARY KEY,
  packet_id  uuid NOT NULL,
  from_user  text COLLATE "C" NOT NULL,
  contact    text COLLATE "C" NOT NULL,
  to_user    text COLLATE "C",
  status     text NOT NULL CHECK (status IN ('invited', 'pending', 'accepted', 'rejected')),
  -- When it became what it is, an invitation and then a share; of an invitation, when it was sent last.
  created_at timestamptz NOT NULL,
  CHECK ((status = 'invited') = (to_user IS NULL)),
  UNIQUE (packet_id, from_user, contact)
);

CREATE INDEX shares_by_recipient ON shares (to_user, created_at DESC, share_id DESC);
CREATE INDEX shares_by_status ON shares (to_user, status, created_at DESC, share_id DESC);
CREATE INDEX shares_invited ON shares (contact, created_at) WHERE status = 'invited';

CREATE TABLE invitation_tokens (
  token_hash bytea PRIMARY KEY,
  contact    text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE INDEX invitation_tokens_by_contact ON invitation_tokens (contact);
CREATE INDEX invitation_tokens_by_age ON invitation_tokens (expires_at);

-- user_id is null while an invitation's contact belongs to nobody that we know.
CREATE TABLE notifications (
  notification_id uuid PRIMARY KEY,
  type            text NOT NULL CHECK (type IN ('share.created', 'invitation.sent')),
  user_id         text COLLATE "C",
  contact         text COLLATE "C" NOT NULL,
  packet_id       uuid NOT NULL,
  share_id        uuid NOT NULL,
  from_user       text COLLATE "C" NOT NULL,
  created_at      timestamptz NOT NULL
);

CREATE INDEX notifications_by_user ON notifications (user_id, notification_id DESC) WHERE user_id IS NOT NULL;

CREATE TABLE notification_deliveries (
  notification_id uuid NOT NULL REFERENCES notifications,
  channel         text NOT NULL CHECK (channel IN ('mail', 'webhook')),
  -- Where a mail goes to.
  address         text,
  status          text NOT NULL CHECK (status IN ('queued', 'delivered', 'dead')),
  attempts        integer NOT NULL,
  last_error      text,
  last_attempt_at timestamptz,
  delivered_at    timestamptz,
  PRIMARY KEY (notification_id, channel)
);

CREATE INDEX notification_deliveries_dead ON notification_deliveries (notification_id) WHERE status = 'dead';
