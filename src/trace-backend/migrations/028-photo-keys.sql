-- The storage key of the photo as a column, so that a list does not parse the content of each of its products. Read as
-- JSON and not as text, because the latter decodes every string of the content.
ALTER TABLE products ADD COLUMN photo_key text
  GENERATED ALWAYS AS (btrim((content -> 'photo' -> 'storageKey')::text, '"')) STORED;
