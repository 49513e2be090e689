-- Messages in scripts without upper case, and most in others, are as they were folded: their text is kept once.
ALTER TABLE chat_messages ALTER COLUMN text DROP NOT NULL;
COMMENT ON COLUMN chat_messages.text IS 'null where it is the same as folded';
