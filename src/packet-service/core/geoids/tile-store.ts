import sql, { empty } from 'sql-template-tag';
import type { Bounds } from '../../../geometry/covers.ts';
import type { Database } from '../../../platform/database/database.ts';
import { meets } from './store.ts';

/** The GeoIDs of fields whose bounds meet a box, and the bytes of their boundaries, by GeoID. */
export async function listFieldsIn(
  database: Database,
  box: Bounds,
  limit: number,
): Promise<{ geoid: string; bytes: number }[]> {
  // OFFSET 0: without it, PostgreSQL may read all fields in the order of their GeoIDs.
  const { rows } = await database.query<{ geoid: string; bytes: number }>(sql`
    SELECT geoid, octet_length(boundary) AS bytes
    FROM (SELECT geoid, boundary FROM fields WHERE ${meets(box)} OFFSET 0) AS found
    ORDER BY geoid LIMIT ${limit}`);
  return rows;
}

/** The bounds of fields by GeoID, optionally those after a GeoID. East is never less than west. */
export async function listBounds(
  database: Database,
  after: string | undefined,
  limit: number,
): Promise<{ geoid: string; bounds: Bounds }[]> {
  const { rows } = await database.query<{ geoid: string } & Bounds>(sql`
    SELECT geoid, (bounds[0])[0] AS east, (bounds[0])[1] AS north, (bounds[1])[0] AS west, (bounds[1])[1] AS south
    FROM fields ${after === undefined ? empty : sql`WHERE geoid > ${after}`} ORDER BY geoid LIMIT ${limit}`);
  return rows.map(({ geoid, ...bounds }) => ({ geoid, bounds }));
}
