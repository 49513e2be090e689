-- Versions count the changes of a record; they are what If-Match is compared with.
ALTER TABLE value_chains ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE final_products ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE knowledge_blog ADD COLUMN version integer NOT NULL DEFAULT 1;
