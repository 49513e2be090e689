-- An account that is being erased, and one that has been. Its row stays, without what it said of a person: other tables
-- name it.
ALTER TABLE users ADD COLUMN erasing_at timestamptz, ADD COLUMN erased_at timestamptz;

CREATE INDEX users_erasing ON users (id) WHERE erasing_at IS NOT NULL AND erased_at IS NULL;
