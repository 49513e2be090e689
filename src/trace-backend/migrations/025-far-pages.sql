-- Indexes that hold everything that lists filter and sort by: they alone lead to a page, however far down it is.
ALTER TABLE companies ADD COLUMN name_key text COLLATE "C" GENERATED ALWAYS AS (left(folded, 100)) STORED;
DROP INDEX companies_by_name;
DROP INDEX companies_by_status;
DROP INDEX companies_by_status_and_name;
CREATE INDEX companies_by_id ON companies (id) INCLUDE (name_key, status);
CREATE INDEX companies_by_name ON companies (name_key, id) INCLUDE (status);
CREATE INDEX companies_by_status ON companies (status, id) INCLUDE (name_key);
CREATE INDEX companies_by_status_and_name ON companies (status, name_key, id);

-- Sorted by code points in every database, as before it was a column.
ALTER TABLE products ALTER COLUMN name_key TYPE text COLLATE "C";
DROP INDEX products_by_name;
DROP INDEX products_by_update;
CREATE INDEX products_by_id ON products (id) INCLUDE (name_key, company_id, created_by);
CREATE INDEX products_by_name ON products (name_key, id) INCLUDE (company_id, created_by);
CREATE INDEX products_by_update ON products (updated_at, id) INCLUDE (name_key, company_id, created_by);
