-- Code lists: what kinds of facilities, units, evidence, semi-products and products there are. Written by
-- administrators, read by every user.
CREATE TABLE facility_types (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code       text NOT NULL UNIQUE,
  label      text NOT NULL,
  created_by integer NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE measure_unit_types (
  id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code          text NOT NULL UNIQUE,
  label         text NOT NULL,
  -- One of it in underlying units; in kilograms if there is no underlying unit.
  weight        double precision,
  underlying_id integer REFERENCES measure_unit_types,
  created_by    integer NOT NULL REFERENCES users,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL
);

CREATE INDEX measure_unit_types_by_underlying ON measure_unit_types (underlying_id) WHERE underlying_id IS NOT NULL;

-- In the following lists, label, name and description are English. Translations are objects of them by language,
-- English among them.
CREATE TABLE processing_evidence_types (
  id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code               text NOT NULL UNIQUE,
  label              text NOT NULL,
  type               text CHECK (type IN ('DOCUMENT', 'FIELD', 'CALCULATED')),
  fairness           boolean,
  provenance         boolean,
  quality            boolean,
  mandatory          boolean,
  required_on_quote  boolean,
  -- Of types of one group, one is required on a quote.
  quote_group        text,
  translations       jsonb NOT NULL,
  created_by         integer NOT NULL REFERENCES users,
  created_at         timestamptz NOT NULL,
  updated_at         timestamptz NOT NULL
);

CREATE TABLE processing_evidence_fields (
  id                integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  field_name        text NOT NULL UNIQUE,
  label             text NOT NULL,
  type              text CHECK (type IN ('STRING', 'TEXT', 'NUMBER', 'INTEGER', 'DATE', 'OBJECT', 'PRICE',
    'EXCHANGE_RATE', 'TIMESTAMP')),
  mandatory         boolean,
  required_on_quote boolean,
  translations      jsonb NOT NULL,
  created_by        integer NOT NULL REFERENCES users,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL
);

CREATE TABLE semi_products (
  id               integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name             text NOT NULL,
  description      text,
  unit_id          integer REFERENCES measure_unit_types,
  sku              boolean,
  sku_end_customer boolean,
  buyable          boolean,
  translations     jsonb NOT NULL,
  created_by       integer NOT NULL REFERENCES users,
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL
);

CREATE INDEX semi_products_by_unit ON semi_products (unit_id);

CREATE TABLE product_types (
  id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code         text NOT NULL UNIQUE,
  name         text NOT NULL,
  description  text,
  translations jsonb NOT NULL,
  created_by   integer NOT NULL REFERENCES users,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL
);
