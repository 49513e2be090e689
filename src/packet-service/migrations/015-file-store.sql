-- Which file store holds this service's files: one row, once it is known.
CREATE TABLE file_store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  id uuid NOT NULL,
  recorded_at timestamptz NOT NULL
);
