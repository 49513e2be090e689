-- A resumable upload whose client does not know yet how long its file is (tus: creation-defer-length) has no length.
ALTER TABLE attachment_uploads ALTER COLUMN length DROP NOT NULL;
