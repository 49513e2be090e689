import sql from 'sql-template-tag';
import type { Bounds } from '../../../geometry/covers.ts';
import { withLiterals } from '../packets/copy-store.ts';
import { meets } from './store.ts';

/** Fields of a row of the COPY. */
export const COPIED_FIELDS = 5;

/**
 * The COPY statement of all fields, or of those whose bounds meet a box, in their order on disk: GeoID, name, boundary,
 * area, and time of registration in milliseconds since 1970, each as text.
 */
export function copyFields(box: Bounds | undefined): string {
  return withLiterals(sql`COPY (
    SELECT geoid, name, boundary, area_m2::text, floor(extract(epoch FROM created_at) * 1000)::bigint::text
    FROM fields
    WHERE ${box ? meets(box) : sql`true`}) TO STDOUT (FORMAT binary)`);
}
