-- Versions count the changes of a record; they are what If-Match is compared with.
ALTER TABLE product_labels ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE label_batches ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE facility_types ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE measure_unit_types ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE processing_evidence_types ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE processing_evidence_fields ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE semi_products ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE product_types ADD COLUMN version integer NOT NULL DEFAULT 1;

-- Case is ignored when a batch is looked up by its number. The index is not unique, because the numbers of batches
-- that exist may differ in case alone.
CREATE INDEX label_batches_by_number ON label_batches (label_id, lower(number));
