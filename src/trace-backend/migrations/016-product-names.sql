-- What lists by name are ordered by, as a column: of an expression PostgreSQL would have to read each product that a
-- page passes over.
ALTER TABLE products ADD COLUMN name_key text GENERATED ALWAYS AS (left(folded, 100)) STORED;
DROP INDEX products_by_name;
CREATE INDEX products_by_name ON products (name_key, id);
