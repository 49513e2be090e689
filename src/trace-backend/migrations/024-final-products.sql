-- The value chain of a product, and what products are sold as.
ALTER TABLE products ADD COLUMN value_chain_id integer REFERENCES value_chains;

CREATE INDEX products_by_value_chain ON products (value_chain_id) WHERE value_chain_id IS NOT NULL;

CREATE TABLE final_products (
  id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id  integer NOT NULL REFERENCES products ON DELETE CASCADE,
  name        text NOT NULL,
  description text,
  unit_id     integer REFERENCES measure_unit_types,
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL
);

CREATE INDEX final_products_by_product ON final_products (product_id, id);
CREATE INDEX final_products_by_unit ON final_products (unit_id) WHERE unit_id IS NOT NULL;

-- The labels that a final product carries, in order. The service deletes such a label only with its product.
CREATE TABLE final_product_labels (
  final_product_id integer NOT NULL REFERENCES final_products ON DELETE CASCADE,
  label_id         integer NOT NULL REFERENCES product_labels ON DELETE CASCADE,
  position         smallint NOT NULL,
  PRIMARY KEY (final_product_id, label_id)
);

CREATE INDEX final_product_labels_by_label ON final_product_labels (label_id);
