-- Finds fields by the beginning of their names, regardless of case.
CREATE INDEX fields_by_name ON fields (lower(name) text_pattern_ops, geoid) WHERE name IS NOT NULL;
