-- The user of the token that a field was registered with; null without one. Its registrar may delete a field that no
-- packet names. Its GeoID is then kept from other boundaries: a process may remember it for the one it had.
ALTER TABLE fields ADD COLUMN author text COLLATE "C";

CREATE TABLE deleted_fields (
  geoid      text COLLATE "C" PRIMARY KEY,
  boundary   text NOT NULL,
  deleted_at timestamptz NOT NULL
);

GRANT DELETE ON fields, field_cells TO CURRENT_USER;
