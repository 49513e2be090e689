-- A change of a user's address that waits until links in mails to both addresses have been opened.
CREATE TABLE email_changes (
  user_id          integer PRIMARY KEY REFERENCES users,
  -- Names this request: mails of an earlier one are not sent any more.
  change_id        uuid NOT NULL,
  -- The new address as it was typed, and in the form by which it is looked for.
  email            text NOT NULL,
  email_key        text COLLATE "C" NOT NULL,
  old_confirmed_at timestamptz,
  new_confirmed_at timestamptz,
  expires_at       timestamptz NOT NULL
);

ALTER TABLE mail_tokens
  DROP CONSTRAINT mail_tokens_purpose_check,
  ADD CONSTRAINT mail_tokens_purpose_check
    CHECK (purpose IN ('CONFIRM_EMAIL', 'RESET_PASSWORD', 'CHANGE_EMAIL_OLD', 'CHANGE_EMAIL_NEW'));
