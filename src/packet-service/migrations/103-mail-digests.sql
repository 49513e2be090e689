-- Mails beyond what a recipient gets in an hour are said together in one.
ALTER TABLE notification_deliveries ADD COLUMN in_digest boolean NOT NULL DEFAULT false;
CREATE INDEX notification_deliveries_by_address ON notification_deliveries (address, notification_id)
  WHERE address IS NOT NULL;

-- What a sender has shared in an hour: the time of a share is in its id.
CREATE INDEX shares_by_sender ON shares (from_user, share_id);
