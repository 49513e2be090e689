-- What a label tells is its own, and everything that consumers see and send by it.

-- A copy of the product and its owner, changed since on its own; null in older labels until their next change.
ALTER TABLE product_labels ADD COLUMN own json;
-- Storage keys of the images and documents that everyone may read while the label is published.
ALTER TABLE product_labels ADD COLUMN public_files uuid[] NOT NULL DEFAULT '{}';

CREATE TABLE label_batches (
  id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label_id           integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  number             text NOT NULL,
  production_date    date,
  expiry_date        date,
  locations          json NOT NULL,
  -- Storage key of an image.
  photo              uuid,
  -- Whether everyone may check its number and dates, and see its locations.
  check_authenticity boolean,
  trace_origin       boolean,
  created_at         timestamptz NOT NULL,
  updated_at         timestamptz NOT NULL,
  UNIQUE (label_id, number)
);

-- Which documents of the owner a label shows, in order. One that the company removes is no longer shown.
CREATE TABLE label_documents (
  label_id    integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  document_id integer NOT NULL,
  position    smallint NOT NULL,
  PRIMARY KEY (label_id, document_id)
);

CREATE INDEX label_documents_by_document ON label_documents (document_id);

-- How often labels were looked at and checked. Written every few seconds, not with each request.
CREATE TABLE label_counts (
  label_id integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  kind     text NOT NULL CHECK (kind IN ('VISIT', 'AUTH_TRUE', 'AUTH_FALSE', 'ORIGIN_TRUE', 'ORIGIN_FALSE')),
  count    bigint NOT NULL,
  PRIMARY KEY (label_id, kind)
);

-- What consumers wrote without a login.
CREATE TABLE label_feedback (
  id                     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label_id               integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  type                   text CHECK (type IN ('PRAISE', 'PROPOSAL', 'COMPLAINT')),
  email                  text,
  feedback               text,
  gdpr_consent           boolean,
  privacy_policy_consent boolean,
  terms_of_use_consent   boolean,
  -- Texts by the name of the question.
  answers                json NOT NULL,
  at                     timestamptz NOT NULL
);

CREATE INDEX label_feedback_by_label ON label_feedback (label_id, id);
CREATE INDEX label_feedback_by_email ON label_feedback (lower(email)) WHERE email IS NOT NULL;

CREATE TABLE knowledge_blog (
  id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id  integer NOT NULL REFERENCES products ON DELETE CASCADE,
  type        text CHECK (type IN ('FAIRNESS', 'QUALITY', 'PROVENANCE')),
  title       text NOT NULL,
  date        date,
  youtube_url text,
  summary     text,
  content     text,
  -- Storage keys, in order.
  documents   uuid[] NOT NULL,
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL
);

CREATE INDEX knowledge_blog_by_product ON knowledge_blog (product_id, id);

ALTER TABLE image_uses DROP CONSTRAINT image_uses_entity_check;
ALTER TABLE image_uses ADD CONSTRAINT image_uses_entity_check
  CHECK (entity IN ('company', 'product', 'label', 'label_batch', 'knowledge_blog'));
