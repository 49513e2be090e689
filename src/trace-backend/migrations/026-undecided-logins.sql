-- An attempt is recorded before its result is known. One that the process did not survive, or that could not be
-- answered, is no failure: it counts only as long as it could still be in progress.
ALTER TABLE login_failures ADD COLUMN decided boolean NOT NULL DEFAULT true;
