-- What was shared with a user's token is another share than what was shared in their name without one.
ALTER TABLE shares DROP CONSTRAINT shares_packet_id_from_user_contact_key;
CREATE UNIQUE INDEX shares_once ON shares (packet_id, from_user, contact, (author IS NULL));
