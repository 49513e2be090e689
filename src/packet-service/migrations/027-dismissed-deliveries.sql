-- Deliveries that were given up can be dismissed, and say when they were last tried again at somebody's wish.
ALTER TABLE notification_deliveries ADD COLUMN replayed_at timestamptz;
ALTER TABLE notification_deliveries DROP CONSTRAINT notification_deliveries_status_check;
ALTER TABLE notification_deliveries ADD CONSTRAINT notification_deliveries_status_check
  CHECK (status IN ('queued', 'delivered', 'dead', 'obsolete', 'dismissed'));

-- The last mail that was sent, and the last one that was not: one row of each.
CREATE TABLE mail_outcomes (
  outcome text PRIMARY KEY CHECK (outcome IN ('sent', 'failed')),
  at      timestamptz NOT NULL,
  -- why, without addresses; of one that failed
  error   text
);
