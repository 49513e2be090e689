-- tag: random bits of the round that appended an entry, by which a position of another log is told from one of this, as
-- after a restored backup. clock, on the last entry of each round: the latest time that the clock of any process had
-- shown by then. Both are null for entries that older versions appended.
ALTER TABLE packet_log ADD COLUMN tag integer;
ALTER TABLE packet_log ADD COLUMN clock timestamptz;
