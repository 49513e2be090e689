import { invalid } from './reason.ts';

/** The reasons of boundaries, positions and boxes. */
export const geometryReasons = {
  'bbox.malformed': invalid('{field} must be west,south,east,north in degrees, with south not above north'),

  'position.malformed': invalid(
    '{field} must be a position: [longitude, latitude] or [longitude, latitude, altitude]',
  ),
  'position.longitude_out_of_range': invalid(
    '{field}: the longitude {longitude} is not between -180 and 180',
  ),
  'position.latitude_out_of_range': invalid(
    '{field}: the latitude {latitude} is not between -90 and 90 (the longitude comes first)',
  ),

  'boundary.wrong_type': invalid('{field} must be Polygon or MultiPolygon'),
  'boundary.no_polygons': invalid('{field} must be an array of polygons'),
  'boundary.no_rings': invalid('{field} must be an array of rings'),
  'boundary.no_positions': invalid('{field} must be an array of positions'),
  'boundary.too_many_rings': invalid('{field}: a boundary can have at most {max} rings'),
  'boundary.too_many_positions': invalid('{field}: a boundary can have at most {max} positions'),
  'boundary.too_large': invalid(
    '{field}: a field can have at most 1000 acres (404.7 ha); this one has {acres}',
    'Check for a wrong position, or divide the land into several fields.',
  ),
  'boundary.too_wide': invalid('{field}: a boundary can be at most {max_km} km wide from side to side'),
  'boundary.too_scattered': invalid(
    '{field}: the bounding box of a boundary can have at most {max_km2} km²; register parts that are further apart as separate fields',
  ),
  'boundary.too_long': invalid('{field}: a boundary can be at most {max_km} km long'),
  'boundary.polygons_overlap': invalid('{field}: the polygon overlaps {other}'),
  'boundary.holes_overlap': invalid('{field}: the hole overlaps {other}'),
  'boundary.hole_outside': invalid('{field}: the hole is not inside {other}'),
  'boundary.too_many_contacts': invalid('{field}: the rings of a boundary can touch in at most {max} places'),

  'plot.has_hole': invalid('{field} is a hole, and plots cannot have holes: draw two plots around it'),
  'plot.no_ring': invalid(
    '{field} must be a ring of at least four positions, the last one equal to the first',
  ),
  'plot.ring_too_long': invalid('{field} has more than {max} positions'),
  'plot.too_few_corners': invalid(
    '{field}: the ring has fewer than three distinct corners when rounded to six decimals',
  ),
  'plot.too_wide': invalid(
    '{field}: a plot can be at most 5° wide and high; split it in two where it crosses the date line',
  ),
  'plot.too_many_positions': invalid('{field}: the plots have more than {max} positions in total'),
  'plot.no_place': invalid('{field}: the location has neither a geometry nor a latitude and longitude'),
  'plot.needs_polygon': invalid('{field}: a plot of more than {max_ha} ha must be a polygon, not a point'),

  'ring.too_short': invalid('{field}: a ring needs at least four positions'),
  'ring.not_closed': invalid('{field}: the ring is not closed; its last position must equal its first'),
  'ring.half_globe': invalid('{field}: an edge spans half the globe'),
  'ring.near_pole': invalid('{field}: boundaries can reach up to {max} degrees of latitude, not the poles'),
  'ring.around_pole': invalid('{field}: the ring runs around a pole'),
  'ring.too_few_positions': invalid('{field}: a ring needs at least three distinct positions'),
  'ring.crosses_itself': invalid('{field}: the ring crosses or touches itself near {position}'),
  'ring.crosses_other': invalid('{field}: the ring crosses {other} near {position}'),
  'ring.overlaps_other': invalid('{field}: the ring overlaps {other} near {position}'),
};
