-- Products, the companies that have to do with them, what consumers are told, and every change.
CREATE TABLE products (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text NOT NULL,
  -- The name as it is searched for and sorted by, and its tokens: products/search.ts.
  folded     text COLLATE "C" NOT NULL,
  tokens     text[] COLLATE "C" NOT NULL,
  -- The owner; without one the product is its creator's alone.
  company_id integer REFERENCES companies,
  -- Everything else that was sent. No statement looks into it, so it stays the text that it was.
  content    json NOT NULL,
  -- Counts the changes; what If-Match is compared with.
  version    integer NOT NULL DEFAULT 1,
  created_by integer NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- A folded name can be longer than an index takes; who sorts by name sees its beginning.
CREATE INDEX products_by_name ON products (left(folded, 100), id);
CREATE INDEX products_by_update ON products (updated_at, id);
CREATE INDEX products_by_company ON products (company_id, id);
CREATE INDEX products_by_creator ON products (created_by, id) WHERE company_id IS NULL;
-- Without a list of pending entries, which every search would have to read through.
CREATE INDEX products_by_token ON products USING gin (tokens) WITH (fastupdate = off);

-- The owner is among them, as OWNER. Members of any of them may read the product.
CREATE TABLE product_companies (
  product_id integer NOT NULL REFERENCES products ON DELETE CASCADE,
  company_id integer NOT NULL REFERENCES companies,
  type       text NOT NULL CHECK (type IN ('BUYER', 'IMPORTER', 'EXPORTER', 'OWNER', 'PRODUCER', 'ASSOCIATION',
    'PROCESSOR', 'TRADER', 'ROASTER')),
  -- Place in the list as it was sent.
  position   smallint NOT NULL,
  PRIMARY KEY (product_id, company_id, type)
);

CREATE INDEX product_companies_by_company ON product_companies (company_id, product_id);

CREATE TABLE product_labels (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What a printed code leads to.
  uuid       uuid NOT NULL UNIQUE,
  product_id integer NOT NULL REFERENCES products ON DELETE CASCADE,
  status     text NOT NULL CHECK (status IN ('UNPUBLISHED', 'PUBLISHED')),
  -- Title, language, fields, and whatever else was sent.
  content    json NOT NULL
);

CREATE INDEX product_labels_by_product ON product_labels (product_id, id);

-- Every change of a product, field by field. Append-only, and kept when the product is removed.
CREATE TABLE product_changes (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id integer NOT NULL,
  -- The version that the change made; 1 is the creation.
  version    integer NOT NULL,
  at         timestamptz NOT NULL,
  user_id    integer NOT NULL,
  -- Of the field, such as origin.text; empty for the product itself, which was created or removed.
  path       text NOT NULL,
  before     json,
  after      json
);

CREATE INDEX product_changes_by_product ON product_changes (product_id, id);

REVOKE UPDATE, DELETE, TRUNCATE ON product_changes FROM CURRENT_USER;
