import sql, { bulk, empty, join, type Sql } from 'sql-template-tag';
import type { Bounds } from '../../../geometry/covers.ts';
import type { Database } from '../../../platform/database/database.ts';
import { ADVISORY_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';
import type { PreparedStatement } from '../../../platform/database/send-together.ts';
import { errorCode } from '../../../platform/database/troubles.ts';

/** A registered field as it is stored. */
export interface FieldRow {
  geoid: string;
  name: string | null;
  /** GeoJSON geometry */
  boundary: string;
  area_m2: number;
  created_at: Date;
  /** the user of the token that it was registered with */
  author: string | null;
}

/** A field that was registered with a name. */
export interface NamedField {
  geoid: string;
  name: string;
}

/** A field to store, with what it is found by. */
export interface NewField {
  geoid: string;
  /** the user of the token */
  author: string | null;
  name: string | undefined;
  boundary: string;
  areaM2: number;
  bounds: Bounds;
  groundCells: number;
  /** keys of the cells that cover it */
  cells: readonly number[];
}

/** Maximum candidates for the same ground; more fields of nearly equal size at one location are implausible. */
const MAX_SIMILAR = 200;

/** Waits until no other transaction registers fields; ends with the transaction. */
export async function lockRegistration(database: Database): Promise<void> {
  await database.query(sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.registration})`);
}

/** Which fields the cells with these keys cover, at least in part: pairs of key and GeoID. */
export async function fieldsOfCells(
  database: Database,
  keys: readonly number[],
): Promise<{ cell: number; geoid: string }[]> {
  const { rows } = await database.query<{ cell: string; geoid: string }>({
    name: 'fields_of_cells',
    text: 'SELECT cell, geoid FROM field_cells WHERE cell = ANY ($1::bigint[])',
    // Written out here: pg would quote and escape each of a thousand numbers.
    values: [`{${keys.join(',')}}`],
  });
  return rows.map(({ cell, geoid }) => ({ cell: Number(cell), geoid }));
}

/**
 * The same for all cells whose keys are between two, and for single cells, with the state of the fields at that moment.
 *
 * @returns undefined if there are more than `limit` pairs
 */
export async function fieldsOfBlock(
  database: Database,
  { first, last, above, limit }: { first: number; last: number; above: readonly number[]; limit: number },
): Promise<{ state: string; pairs: { cell: number; geoid: string }[] | undefined }> {
  const { rows } = await database.query<{ state: string; cell: string | null; geoid: string }>({
    name: 'fields_of_block',
    text: `SELECT state, cell, geoid FROM field_state LEFT JOIN (
        (SELECT cell, geoid FROM field_cells WHERE cell BETWEEN $1 AND $2 LIMIT $4)
        UNION ALL SELECT cell, geoid FROM field_cells WHERE cell = ANY ($3::bigint[])
      ) AS found ON true LIMIT $4`,
    values: [first, last, `{${above.join(',')}}`, limit + 1],
  });
  const { state } = rows[0] as (typeof rows)[number];
  const cellRows = rows.filter(({ cell }) => cell !== null);
  return {
    state,
    pairs:
      rows.length > limit ? undefined : cellRows.map(({ cell, geoid }) => ({ cell: Number(cell), geoid })),
  };
}

/** Fails unless the fields are in this state (docs/decisions/geoids.md): `isFieldChange` recognises the error. */
export function requireFieldState(state: string): PreparedStatement {
  return { name: 'require_field_state', text: 'SELECT require_field_state($1)', values: [state] };
}

/** Whether `requireFieldState` failed because the fields have changed. */
export function isFieldChange(error: unknown): boolean {
  return errorCode(error) === 'ZF001';
}

/** Fields by GeoID, in no order; missing ones are left out. */
export async function findFields(database: Database, geoids: readonly string[]): Promise<FieldRow[]> {
  const { rows } = await database.query<FieldRow>({
    name: 'find_fields',
    text: 'SELECT geoid, name, boundary, area_m2, created_at, author FROM fields WHERE geoid = ANY ($1::text[])',
    values: [geoids],
  });
  return rows;
}

/** The GeoIDs of fields near the box whose count of level-20 cells is at least `ratio` of the other's, most alike first. */
export async function similarFields(
  database: Database,
  { box, groundCells, ratio }: { box: Bounds; groundCells: number; ratio: number },
): Promise<string[]> {
  const { rows } = await database.query<{ geoid: string }>(sql`
    SELECT geoid FROM fields
    WHERE ${meets(box)} AND ground_cells BETWEEN ${groundCells * ratio}::float8 AND ${groundCells / ratio}::float8
    ORDER BY abs(ground_cells - ${groundCells}::integer), geoid LIMIT ${MAX_SIMILAR}`);
  return rows.map(({ geoid }) => geoid);
}

/** Whether a field has this GeoID, or a deleted field with another boundary had it. */
export async function isTaken(database: Database, geoid: string, boundary: string): Promise<boolean> {
  const { rows } = await database.query(sql`
    SELECT 1 FROM fields WHERE geoid = ${geoid}
    UNION ALL SELECT 1 FROM deleted_fields WHERE geoid = ${geoid} AND boundary <> ${boundary}`);
  return rows.length > 0;
}

/**
 * Fields that other users registered with a token, no smaller than an area, whose bounds meet a box: smallest first,
 * after one of them.
 */
export async function othersAround(
  database: Database,
  search: {
    box: Bounds;
    areaM2: number;
    author: string | null;
    after: { areaM2: number; geoid: string } | undefined;
  },
  limit: number,
): Promise<FieldRow[]> {
  const { box, areaM2, author, after } = search;
  const { rows } = await database.query<FieldRow>(sql`
    SELECT geoid, name, boundary, area_m2, created_at, author FROM fields
    WHERE ${meets(box)} AND ${author === null ? sql`author IS NOT NULL` : sql`author <> ${author}`} AND area_m2 >= ${areaM2}
      ${after ? sql`AND (area_m2, geoid) > (${after.areaM2}::float8, ${after.geoid})` : empty}
    ORDER BY area_m2, geoid LIMIT ${limit}`);
  return rows;
}

/** Fields smaller than an area that others than its owner registered, whose bounds meet a box: largest first. */
export async function smallerOfOthers(
  database: Database,
  { box, areaM2, owner }: { box: Bounds; areaM2: number; owner: string | null },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ boundary: string }[]> {
  const { rows } = await database.query<{ boundary: string }>(sql`
    SELECT boundary FROM fields
    WHERE ${meets(box)} AND author IS DISTINCT FROM ${owner} AND area_m2 < ${areaM2}
    ORDER BY area_m2 DESC, geoid LIMIT ${limit} OFFSET ${offset}`);
  return rows;
}

/** Deletes a field, and reserves its GeoID for the same boundary. The caller holds the registration lock. */
export async function deleteField(database: Database, geoid: string, now: Date): Promise<void> {
  await database.query(sql`DELETE FROM field_cells WHERE geoid = ${geoid}`);
  await database.query(sql`
    WITH gone AS (DELETE FROM fields WHERE geoid = ${geoid} RETURNING boundary)
    INSERT INTO deleted_fields (geoid, boundary, deleted_at) SELECT ${geoid}, boundary, ${now}::timestamptz FROM gone
    ON CONFLICT (geoid) DO UPDATE SET boundary = excluded.boundary, deleted_at = excluded.deleted_at`);
}

/** Stores a field. The caller holds the registration lock. */
export async function insertField(database: Database, field: NewField, createdAt: Date): Promise<void> {
  const { geoid, name, boundary, areaM2, bounds, groundCells, cells, author } = field;
  const { south, west, north, east } = bounds;
  await database.query(sql`
    INSERT INTO fields (geoid, name, boundary, area_m2, bounds, ground_cells, created_at, author)
    VALUES (${geoid}, ${name ?? null}, ${boundary}, ${areaM2},
      box(point(${west}, ${south}), point(${east}, ${north})), ${groundCells}, ${createdAt}, ${author})`);
  await database.query(
    sql`INSERT INTO field_cells (cell, geoid) VALUES ${bulk(cells.map(cell => [cell, geoid]))}`,
  );
}

/**
 * The GeoIDs of fields and the bytes of their boundaries, by GeoID: optionally only those after a GeoID, and those
 * whose bounds meet a box.
 */
export async function listFields(
  database: Database,
  { box, after, limit }: { box?: Bounds | undefined; after?: string | undefined; limit: number },
): Promise<{ geoid: string; bytes: number }[]> {
  const { rows } = await database.query<{ geoid: string; bytes: number }>(sql`
    SELECT geoid, octet_length(boundary) AS bytes FROM fields
    WHERE true ${after === undefined ? empty : sql`AND geoid > ${after}`} ${box ? sql`AND ${meets(box)}` : empty}
    ORDER BY geoid LIMIT ${limit}`);
  return rows;
}

/** The names of fields by GeoID, in no order; those without a name are left out. */
export async function namesOfFields(database: Database, geoids: readonly string[]): Promise<NamedField[]> {
  const { rows } = await database.query<NamedField>(
    sql`SELECT geoid, name FROM fields WHERE geoid = ANY (${geoids}::text[]) AND name IS NOT NULL`,
  );
  return rows;
}

/** The last code point: no name that begins with a text comes after the text and this. */
const LAST = String.fromCodePoint(0x10ffff);

/** Selects the fields whose names begin with a text, regardless of case, by name. */
export function fieldsByName({ beginning, limit }: { beginning: string; limit: number }): Sql {
  // Comparisons of bytes, as in the index; LIKE with a parameter would not use it.
  return sql`
    SELECT geoid, name FROM fields
    WHERE name IS NOT NULL AND lower(name) ~>=~ lower(${beginning})
      AND lower(name) ~<=~ (lower(${beginning}) || ${LAST})
    ORDER BY lower(name) USING ~<~, geoid LIMIT ${limit}`;
}

/** Whether a field's bounds meet the box; either of the two may run past 180 degrees. */
export function meets({ south, west, north, east }: Bounds): Sql {
  const turned = [0, 360, -360].map(
    turn => sql`bounds && box(point(${west + turn}, ${south}), point(${east + turn}, ${north}))`,
  );
  return sql`(${join(turned, ' OR ')})`;
}
