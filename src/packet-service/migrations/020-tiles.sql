-- Counts for maps: docs/decisions/tiles.md. Local tables on the coordinator when the database is distributed.

-- How many observations (layer 1) and fields (layer 2) each S2 cell has within each tile of zoom 2 * grid + 1. x and y
-- number the tile. sum_x and sum_y are of positions in the Web Mercator square, which has 2^31 units along each side.
-- single: the packet's id or the field's GeoID, where the first one counted is the only one.
CREATE TABLE tile_cells (
  layer  smallint NOT NULL,
  grid   smallint NOT NULL,
  x      smallint NOT NULL,
  y      smallint NOT NULL,
  cell   bigint NOT NULL,
  count  bigint NOT NULL,
  sum_x  bigint NOT NULL,
  sum_y  bigint NOT NULL,
  single text COLLATE "C",
  PRIMARY KEY (layer, grid, x, y, cell)
) WITH (fillfactor = 80);

-- The fields that are counted, and at which position.
CREATE TABLE tile_fields (
  geoid text COLLATE "C" PRIMARY KEY,
  x     bigint NOT NULL,
  y     bigint NOT NULL,
  cell  bigint NOT NULL
);

-- Up to which position of the log observations are counted: one row, once any is.
CREATE TABLE tile_state (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  position bigint NOT NULL
);
