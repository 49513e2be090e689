-- Which attachments packets name, and by whom each was named first: that user, where there was a token, is the one who
-- may supply the file, and a sha256 in that reference is its hash. A local table on the coordinator when the database
-- is distributed.
CREATE TABLE attachment_claims (
  attachment_id uuid PRIMARY KEY,
  author        text COLLATE "C",
  sha256        bytea
);

-- Who named these first is not known any more; whoever names them next must not become their owner.
INSERT INTO attachment_claims (attachment_id) SELECT DISTINCT attachment_id FROM packet_attachments;

REVOKE UPDATE, DELETE, TRUNCATE ON attachment_claims FROM CURRENT_USER;
