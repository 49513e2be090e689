-- What was made with a token is closed to requests without one (AUTH_MODE=optional). closed is true for the messages
-- of threads that were made with a token and null for all other packets; neither changes.
ALTER TABLE packets ADD COLUMN closed boolean;
ALTER TABLE notifications ADD COLUMN author text COLLATE "C";
