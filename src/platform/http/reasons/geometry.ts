import { invalid } from './reason.ts';

/** The reasons of boundaries, positions and boxes. */
export const geometryReasons = {
  'bbox.malformed': invalid('{field} must be west,south,east,north in degrees, south not above north'),

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
  'boundary.too_many_rings': invalid('{field}: a boundary has at most {max} rings'),
  'boundary.too_many_positions': invalid('{field}: a boundary has at most {max} positions'),
  'boundary.too_large': invalid(
    '{field}: a field has at most 1000 acres (404.7 ha), this one has {acres}',
    'Check for a wrong position, or divide the land into several fields.',
  ),
  'boundary.too_wide': invalid('{field}: a boundary reaches {max_km} km at most from side to side'),
  'boundary.too_scattered': invalid(
    '{field}: the bounding box of a boundary has {max_km2} km² at most; parts further apart are fields of their own',
  ),
  'boundary.too_long': invalid('{field}: a boundary is {max_km} km long at most'),
  'boundary.polygons_overlap': invalid('{field}: the polygon overlaps {other}'),
  'boundary.holes_overlap': invalid('{field}: the hole overlaps {other}'),
  'boundary.hole_outside': invalid('{field}: the hole does not lie inside {other}'),
  'boundary.too_many_contacts': invalid('{field}: the rings of a boundary touch in at most {max} places'),

  'plot.has_hole': invalid('{field} is a hole, which a plot cannot have: draw two plots around it'),
  'plot.no_ring': invalid('{field} must be a ring of four positions or more, the last one the first again'),
  'plot.ring_too_long': invalid('{field} has more than {max} positions'),
  'plot.too_few_corners': invalid('{field}: the ring has fewer than three different corners on six decimals'),
  'plot.too_wide': invalid(
    '{field}: a plot is at most 5° wide and high, and is cut in two where it crosses the date line',
  ),
  'plot.too_many_positions': invalid('{field}: the plots have more than {max} positions in total'),
  'plot.no_place': invalid('{field}: the location has neither a geometry nor a latitude and longitude'),
  'plot.needs_polygon': invalid('{field}: a plot of more than {max_ha} ha has to be a polygon, not a point'),

  'ring.too_short': invalid('{field}: a ring has four or more positions'),
  'ring.not_closed': invalid('{field}: the ring is not closed, its last position must be the first again'),
  'ring.half_globe': invalid('{field}: an edge spans half the globe'),
  'ring.near_pole': invalid('{field}: boundaries reach to {max} degrees of latitude, not to the poles'),
  'ring.around_pole': invalid('{field}: the ring runs around a pole'),
  'ring.too_few_positions': invalid('{field}: a ring has three or more different positions'),
  'ring.crosses_itself': invalid('{field}: the ring crosses or touches itself near {position}'),
  'ring.crosses_other': invalid('{field}: the ring crosses {other} near {position}'),
  'ring.overlaps_other': invalid('{field}: the ring overlaps {other} near {position}'),
};
