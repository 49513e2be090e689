-- The user of the token that a row was made with; null without a token, and for rows from before this column.
ALTER TABLE packets ADD COLUMN author text COLLATE "C";
ALTER TABLE chat_threads ADD COLUMN author text COLLATE "C";
ALTER TABLE shares ADD COLUMN author text COLLATE "C";

-- Every user identifier that a valid token ever named. A local table on the coordinator when the database is
-- distributed.
CREATE TABLE token_users (
  user_id    text COLLATE "C" PRIMARY KEY,
  first_seen timestamptz NOT NULL
);

INSERT INTO token_users (user_id, first_seen)
SELECT user_id, min(at) FROM (
  SELECT user_id, uploaded_at AS at FROM attachments
  UNION ALL SELECT user_id, created_at FROM attachment_uploads
  UNION ALL SELECT caller, created_at FROM idempotency_keys WHERE caller <> ''
) AS seen WHERE user_id IS NOT NULL GROUP BY user_id;
