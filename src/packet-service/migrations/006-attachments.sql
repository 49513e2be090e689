-- Which packets name which of our attachments, whether or not its file has come. thread_id repeats the packet's, so
-- that who may read an attachment is one look. Distributed with packets.
CREATE TABLE packet_attachments (
  packet_id     uuid NOT NULL,
  attachment_id uuid NOT NULL,
  thread_id     uuid,
  PRIMARY KEY (packet_id, attachment_id)
);

CREATE INDEX packet_attachments_by_attachment ON packet_attachments (attachment_id, thread_id);

REVOKE UPDATE, DELETE, TRUNCATE ON packet_attachments FROM CURRENT_USER;

-- Files of packets. Local tables on the coordinator when the database is distributed.
CREATE TABLE attachments (
  attachment_id uuid PRIMARY KEY,
  sha256        bytea NOT NULL,
  size          bigint NOT NULL,
  content_type  text NOT NULL,
  name          text NOT NULL,
  user_id       text COLLATE "C",
  uploaded_at   timestamptz NOT NULL,
  -- Whether a packet is known to name it. Packets stay, so then it is never looked at again.
  referenced    boolean NOT NULL DEFAULT false
);

CREATE INDEX attachments_by_content ON attachments (sha256);
CREATE INDEX attachments_unreferenced ON attachments (uploaded_at, attachment_id) WHERE NOT referenced;

-- What the file store holds, each content once. unused_since is set while no attachment has it, or an upload of it is
-- under way; a content is only removed a day later. docs/decisions/attachments.md has why that is safe.
CREATE TABLE attachment_contents (
  sha256       bytea PRIMARY KEY,
  unused_since timestamptz
);

CREATE INDEX attachment_contents_unused ON attachment_contents (unused_since) WHERE unused_since IS NOT NULL;

-- Resumable uploads. What has come is kept as pieces, each under its own key in the file store.
CREATE TABLE attachment_uploads (
  upload_id     uuid PRIMARY KEY,
  attachment_id uuid NOT NULL,
  user_id       text COLLATE "C",
  name          text NOT NULL,
  metadata      text NOT NULL,
  length        bigint NOT NULL,
  received      bigint NOT NULL DEFAULT 0,
  pieces        uuid[] NOT NULL DEFAULT '{}',
  created_at    timestamptz NOT NULL
);

CREATE INDEX attachment_uploads_by_age ON attachment_uploads (created_at);
