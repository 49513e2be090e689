-- Value chains, the codes that are used in each, and the companies that take part.
CREATE TABLE value_chains (
  id              integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name            text NOT NULL,
  description     text,
  status          text NOT NULL CHECK (status IN ('ENABLED', 'DISABLED')),
  product_type_id integer REFERENCES product_types,
  -- The name as lists search it, and its beginning, by which they are sorted.
  folded          text COLLATE "C" NOT NULL,
  name_key        text COLLATE "C" GENERATED ALWAYS AS (left(folded, 100)) STORED,
  created_by      integer NOT NULL REFERENCES users,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL
);

CREATE INDEX value_chains_by_name ON value_chains (name_key, id);
CREATE INDEX value_chains_by_product_type ON value_chains (product_type_id, id);

-- Each in the order in which they were sent.
CREATE TABLE value_chain_facility_types (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES facility_types,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);
CREATE INDEX value_chain_facility_types_by_code ON value_chain_facility_types (code_id);

CREATE TABLE value_chain_measure_unit_types (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES measure_unit_types,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);
CREATE INDEX value_chain_measure_unit_types_by_code ON value_chain_measure_unit_types (code_id);

CREATE TABLE value_chain_evidence_types (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES processing_evidence_types,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);
CREATE INDEX value_chain_evidence_types_by_code ON value_chain_evidence_types (code_id);

CREATE TABLE value_chain_evidence_fields (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES processing_evidence_fields,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);
CREATE INDEX value_chain_evidence_fields_by_code ON value_chain_evidence_fields (code_id);

CREATE TABLE value_chain_semi_products (
  value_chain_id integer NOT NULL REFERENCES value_chains ON DELETE CASCADE,
  code_id        integer NOT NULL REFERENCES semi_products,
  position       smallint NOT NULL,
  PRIMARY KEY (value_chain_id, code_id)
);
CREATE INDEX value_chain_semi_products_by_code ON value_chain_semi_products (code_id);

CREATE TABLE company_value_chains (
  company_id     integer NOT NULL REFERENCES companies,
  value_chain_id integer NOT NULL REFERENCES value_chains,
  position       smallint NOT NULL,
  PRIMARY KEY (company_id, value_chain_id)
);
CREATE INDEX company_value_chains_by_value_chain ON company_value_chains (value_chain_id, company_id);
