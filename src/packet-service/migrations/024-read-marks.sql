-- Up to which position of the log a participant has read the thread; null before they have read anything. What is in
-- the log now counts as read by those who take part now. A default that is taken away again writes no row.
DO $$
BEGIN
  EXECUTE format('ALTER TABLE chat_participants ADD COLUMN read_position bigint DEFAULT %s',
    (SELECT coalesce(max(position), 0) FROM packet_log));
END $$;
ALTER TABLE chat_participants ALTER COLUMN read_position DROP DEFAULT;
