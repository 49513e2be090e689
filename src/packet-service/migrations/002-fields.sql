-- Registered fields: grounds that give the points inside them a GeoID. They are written once. Local tables on the
-- coordinator when the database is distributed; the two are tied by the code alone.
CREATE TABLE fields (
  geoid        text COLLATE "C" PRIMARY KEY,
  name         text,
  -- GeoJSON geometry as sent, in degrees.
  boundary     text NOT NULL,
  area_m2      double precision NOT NULL,
  -- x is the longitude, which runs on past 180 where the field crosses the date line.
  bounds       box NOT NULL,
  -- How many level-20 S2 cells the ground meets: the fields whose count is far off cannot be the same ground.
  ground_cells integer NOT NULL,
  created_at   timestamptz NOT NULL
);

CREATE INDEX fields_by_bounds ON fields USING gist (bounds);

-- The S2 cells that cover each field, all of one level for one field. A point looks for the cells around it.
CREATE TABLE field_cells (
  cell  bigint NOT NULL,
  geoid text COLLATE "C" NOT NULL,
  PRIMARY KEY (cell, geoid)
);

-- Immutability as for packets. A row may be deleted by an operator who grants himself the right; the GeoID that
-- packets already have stays.
REVOKE UPDATE, DELETE, TRUNCATE ON fields, field_cells FROM CURRENT_USER;
