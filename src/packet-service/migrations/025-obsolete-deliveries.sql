-- A mail about a share or an invitation that was answered before it was sent is not needed any more.
ALTER TABLE notification_deliveries DROP CONSTRAINT notification_deliveries_status_check;
ALTER TABLE notification_deliveries ADD CONSTRAINT notification_deliveries_status_check
  CHECK (status IN ('queued', 'delivered', 'dead', 'obsolete'));
