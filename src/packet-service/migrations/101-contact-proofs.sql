-- How each contact of the directory was proven:
--   none      it was entered and not proven; without a token it counts for what is shared without one
--   code      a mailed or texted code was used without a token, which proves the contact and not its user
--   mailed    a mailed code was used with the user's token
--   texted    a code that was sent to a phone number was used with the user's token
--   registry  the user registry has it for the user of the token
ALTER TABLE directory_contacts
  ADD COLUMN proof text NOT NULL DEFAULT 'none'
  CHECK (proof IN ('none', 'code', 'mailed', 'texted', 'registry'));
ALTER TABLE directory_contacts ADD CHECK (proof = 'none' OR confirmed_at IS NOT NULL);

-- Contacts from before do not say how they were proven: those of users with tokens wait for a proof again.
UPDATE directory_contacts SET confirmed_at = NULL
WHERE confirmed_at IS NOT NULL AND user_id IN (SELECT user_id FROM token_users);

DROP INDEX directory_contacts_confirmed;
CREATE UNIQUE INDEX directory_contacts_proven ON directory_contacts (contact)
  WHERE proof IN ('mailed', 'texted', 'registry');
CREATE UNIQUE INDEX directory_contacts_by_code ON directory_contacts (contact) WHERE proof = 'code';
CREATE INDEX directory_contacts_claimed ON directory_contacts (contact, confirmed_at, user_id)
  WHERE confirmed_at IS NOT NULL AND proof = 'none';
