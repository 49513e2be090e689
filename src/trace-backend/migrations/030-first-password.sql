-- Whether the password is still the one that the account was created with by the program: from the settings, a file or a
-- terminal.
ALTER TABLE users ADD COLUMN has_first_password boolean NOT NULL DEFAULT false;

UPDATE users SET has_first_password = true
WHERE EXISTS (
    SELECT FROM audit WHERE entity = 'user' AND entity_id = users.id::text AND action = 'CREATE_SYSTEM_ADMIN')
  AND NOT EXISTS (
    SELECT FROM audit WHERE entity = 'user' AND entity_id = users.id::text
      AND (action IN ('RESET_PASSWORD', 'SET_PASSWORD', 'ERASE_USER')
        OR action = 'UPDATE_USER_PROFILE' AND details -> 'fields' ? 'password'));
