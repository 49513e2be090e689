-- Whether people are not to choose a code any more.
ALTER TABLE facility_types ADD COLUMN disabled boolean;
ALTER TABLE measure_unit_types ADD COLUMN disabled boolean;
ALTER TABLE processing_evidence_types ADD COLUMN disabled boolean;
ALTER TABLE processing_evidence_fields ADD COLUMN disabled boolean;
ALTER TABLE semi_products ADD COLUMN disabled boolean;
ALTER TABLE product_types ADD COLUMN disabled boolean;
