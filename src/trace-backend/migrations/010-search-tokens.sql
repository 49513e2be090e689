-- Runs of three code points join the tokens: lists/search.ts. The index is built anew because that is quicker than
-- changing every entry.
DROP INDEX companies_by_token;
UPDATE companies SET tokens = tokens ||
  ARRAY(SELECT DISTINCT substr(folded, place, 3) FROM generate_series(1, char_length(folded) - 2) AS place);
CREATE INDEX companies_by_token ON companies USING gin (tokens) WITH (fastupdate = off);

DROP INDEX products_by_token;
UPDATE products SET tokens = tokens ||
  ARRAY(SELECT DISTINCT substr(folded, place, 3) FROM generate_series(1, char_length(folded) - 2) AS place);
CREATE INDEX products_by_token ON products USING gin (tokens) WITH (fastupdate = off);

ANALYZE companies (tokens);
ANALYZE products (tokens);
