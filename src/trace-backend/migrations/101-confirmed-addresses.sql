-- When the owner of an account's address confirmed it: by a mailed token and the password of the account, or by a
-- password that was set through a mailed link. Null if only an administrator did, or nobody. Addresses that were
-- confirmed by a mailed link before count, and so do those of accounts that the program made.
ALTER TABLE users ADD COLUMN email_confirmed_at timestamptz;

UPDATE users SET email_confirmed_at = (
  SELECT max(at) FROM audit
  WHERE entity = 'user' AND entity_id = users.id::text AND (action = 'CREATE_SYSTEM_ADMIN'
    OR user_id = users.id AND action IN ('CONFIRM_USER_EMAIL', 'RESET_PASSWORD', 'CHANGE_EMAIL')))
WHERE erasing_at IS NULL;

-- The address that a token was mailed to, in the form by which it is looked up: a token says nothing about another one.
-- Null for tokens of a change of address, which end with it.
ALTER TABLE mail_tokens ADD COLUMN email_key text COLLATE "C";

UPDATE mail_tokens SET email_key = users.email_key FROM users
WHERE users.id = user_id AND purpose IN ('CONFIRM_EMAIL', 'RESET_PASSWORD');

-- Whether the new address was confirmed together with the password.
ALTER TABLE email_changes ADD COLUMN is_proven boolean NOT NULL DEFAULT false;

-- Whether the member accepted an invitation, rather than having made the company or being placed there.
ALTER TABLE company_users ADD COLUMN by_invitation boolean NOT NULL DEFAULT false;

UPDATE company_users SET by_invitation = true
WHERE EXISTS (
  SELECT FROM audit WHERE entity = 'company' AND entity_id = company_id::text AND action = 'ACCEPT_INVITATION'
    AND audit.user_id = company_users.user_id);
