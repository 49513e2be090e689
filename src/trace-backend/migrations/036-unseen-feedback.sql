-- How much feedback nobody who may change the product has seen yet. What is there now counts as seen.
ALTER TABLE product_labels ADD COLUMN feedback_unseen integer NOT NULL DEFAULT 0;

CREATE INDEX product_labels_by_unseen ON product_labels (product_id) WHERE feedback_unseen > 0;
