-- The version of the product with which a label was last compared. Labels that exist count as compared when they were
-- last changed.
ALTER TABLE product_labels ADD COLUMN compared_version integer NOT NULL DEFAULT 0;

UPDATE product_labels SET compared_version = coalesce((
  SELECT max(version) FROM product_changes
  WHERE product_changes.product_id = product_labels.product_id
    AND starts_with(path || '.', 'labels.' || product_labels.id || '.')), 0);
