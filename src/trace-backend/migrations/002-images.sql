-- Images, and documents kept the same way. Their bytes are in the file store, under images/<storage_key>/.
CREATE TABLE images (
  id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  storage_key  uuid NOT NULL UNIQUE,
  kind         text NOT NULL CHECK (kind IN ('image', 'document')),
  -- Of the bytes received.
  name         text NOT NULL,
  content_type text NOT NULL,
  size         integer NOT NULL,
  user_id      integer NOT NULL REFERENCES users,
  uploaded_at  timestamptz NOT NULL,
  -- Since when no record carries it; null while one does.
  unused_since timestamptz
);

CREATE INDEX images_unused ON images (unused_since) WHERE unused_since IS NOT NULL;

-- Which records carry which images.
CREATE TABLE image_uses (
  storage_key uuid NOT NULL REFERENCES images (storage_key),
  entity      text NOT NULL CHECK (entity IN ('company', 'product')),
  entity_id   integer NOT NULL,
  PRIMARY KEY (entity, entity_id, storage_key)
);

CREATE INDEX image_uses_by_key ON image_uses (storage_key, entity, entity_id);

-- What may be in the file store without a row in images: an upload under way, or an image that has expired. Removed
-- from remove_at on. docs/decisions/images.md has why nothing is lost or left behind.
CREATE TABLE image_leftovers (
  storage_key uuid PRIMARY KEY,
  remove_at   timestamptz NOT NULL
);

CREATE INDEX image_leftovers_by_time ON image_leftovers (remove_at);
