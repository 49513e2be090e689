-- Holds all that a list by name needs to find a page, so that the products before the page are not read.
DROP INDEX products_by_name;
CREATE INDEX products_by_name ON products (left(folded, 100), id) INCLUDE (folded);
