-- Mails that were given up have the columns and the states of the packet service's deliveries: dead is what was FAILED.
ALTER TABLE failed_mails RENAME COLUMN failed_at TO last_attempt_at;
ALTER TABLE failed_mails DROP CONSTRAINT failed_mails_status_check;
UPDATE failed_mails SET status = CASE status WHEN 'FAILED' THEN 'dead' ELSE lower(status) END;
ALTER TABLE failed_mails ADD CONSTRAINT failed_mails_status_check CHECK (status IN ('queued', 'dead', 'obsolete'));
