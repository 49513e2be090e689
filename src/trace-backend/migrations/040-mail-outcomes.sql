-- When an administrator last had a mail sent again that was given up.
ALTER TABLE failed_mails ADD COLUMN replayed_at timestamptz;

-- The last mail that was sent, and the last one that was not: one row of each.
CREATE TABLE mail_outcomes (
  outcome text PRIMARY KEY CHECK (outcome IN ('sent', 'failed')),
  at      timestamptz NOT NULL,
  -- why, without addresses; of one that failed
  error   text
);
