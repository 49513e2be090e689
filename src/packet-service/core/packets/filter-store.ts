import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { ReadableThreads } from '../access/caller.ts';
import { firstUuidAt } from '../packet-format/ulid.ts';
import { type Area, type Box, type Circle, EARTH_RADIUS } from './area.ts';
import { NOT_ERASED } from './erase-store.ts';

/** The filters of packets; absent ones do not filter. */
export interface PacketFilter {
  /** the packet's GeoID or one of its additional GeoIDs */
  geoid?: string | undefined;
  type?: string | undefined;
  /** UTC, inclusive */
  from?: string | undefined;
  /** UTC, inclusive */
  to?: string | undefined;
  /** the time in the id, inclusive */
  made_from?: Date | undefined;
  /** the time in the id, to the end of its millisecond */
  made_to?: Date | undefined;
  /** where the capture point must be */
  bbox?: Box | undefined;
  near?: Circle | undefined;
  /** one packet, uuid form */
  id?: string | undefined;
  /** the only threads whose messages are included; undefined for all */
  threads?: ReadableThreads | undefined;
}

/** The tables that packets are read from, and the columns of GeoID and position, in the order of an index. */
export interface Source {
  from: Sql;
  geoid: Sql;
  ts: Sql;
  id: Sql;
}

/** Packets by their own GeoID. */
export const OWN: Source = { from: sql`packets p`, geoid: sql`p.geoid`, ts: sql`p.ts`, id: sql`p.id` };
/** Packets by their additional GeoIDs. */
export const ADDITIONAL: Source = {
  from: sql`packet_geoids g JOIN packets p ON p.id = g.packet_id`,
  geoid: sql`g.geoid`,
  ts: sql`g.ts`,
  id: sql`g.packet_id`,
};

/** The condition of each filter; a missing one does not compile. */
const CONDITIONS: {
  [Name in keyof Required<PacketFilter>]: (value: NonNullable<PacketFilter[Name]>, source: Source) => Sql;
} = {
  geoid: (value, { geoid }) => sql`${geoid} = ${value}`,
  type: value => sql`p.type = ${value}`,
  from: (value, { ts }) => sql`${ts} >= ${value}::timestamptz`,
  to: (value, { ts }) => sql`${ts} <= ${value}::timestamptz`,
  made_from: (value, { id }) => sql`${id} >= ${firstUuidSince(value.getTime())}::uuid`,
  made_to: (value, { id }) => sql`${id} < ${firstUuidSince(value.getTime() + 1)}::uuid`,
  bbox: value => inArea(value),
  near: value => inArea(value),
  id: (value, { id }) => sql`${id} = ${value}::uuid`,
  threads: value =>
    value === 'open'
      ? sql`p.closed IS NULL`
      : sql`(p.thread_id IS NULL OR p.thread_id = ANY (${value}::uuid[]))`,
};
const NAMES = Object.keys(CONDITIONS) as (keyof PacketFilter)[];

/** The first id of a millisecond. Ids begin in 1970. */
function firstUuidSince(milliseconds: number): string {
  return firstUuidAt(new Date(Math.max(0, milliseconds)));
}

/** The conditions of a filter, and that the packet was not erased. */
export function conditionsOf(filter: PacketFilter, source: Source): Sql[] {
  return [...NAMES.flatMap(name => conditionOf(name, filter, source)), raw(NOT_ERASED)];
}

/** The conditions of the range of ids: the primary key's index has all that they need. */
export function idConditions({ made_from, made_to }: PacketFilter): Sql[] {
  const range = { made_from, made_to };
  return NAMES.flatMap(name => conditionOf(name, range, OWN));
}

function conditionOf<Name extends keyof PacketFilter>(
  name: Name,
  filter: PacketFilter,
  source: Source,
): Sql[] {
  const value = filter[name];
  return value === undefined ? [] : [CONDITIONS[name](value as NonNullable<PacketFilter[Name]>, source)];
}

/** Whether the text of statements with this filter varies: areas are covered by any number of cells. */
export function hasManyTexts({ bbox, near }: PacketFilter): boolean {
  return (bbox ?? near) !== undefined;
}

/** Index cells first, and the exact condition for the rows in them. */
function inArea(area: Area): Sql {
  const cells = area.cells.map(({ first, last }) => sql`p.cell BETWEEN ${first} AND ${last}`);
  return sql`(${join(cells, ' OR ')}) AND ${exactly(area)}`;
}

/** Degrees of a box, or the haversine distance. */
function exactly(area: Area): Sql {
  if (area.kind === 'box') {
    const between = sql`p.lat BETWEEN ${area.south} AND ${area.north}`;
    return area.west <= area.east
      ? sql`${between} AND p.lon BETWEEN ${area.west} AND ${area.east}`
      : sql`${between} AND (p.lon >= ${area.west} OR p.lon <= ${area.east})`;
  }
  const { lat, lon, metres } = area;
  return sql`2 * ${EARTH_RADIUS}::float8 * asin(least(1, sqrt(
      ${squaredSine(sql`p.lat - ${lat}::float8`)} +
      ${cosine(lat)}::float8 * CASE WHEN abs(p.lat) < ${TINY} THEN 1 ELSE cos(radians(p.lat)) END *
        ${squaredSine(sql`p.lon - ${lon}::float8`)}
    ))) <= ${metres}::float8`;
}

/** Degrees, a hundredth of a millimetre, below which an angle counts as 0: PostgreSQL refuses products that underflow. */
const TINY = 1e-10;

/** The square of the sine of half an angle in degrees. */
function squaredSine(degrees: Sql): Sql {
  return sql`CASE WHEN abs(${degrees}) < ${TINY} THEN 0 ELSE power(sin(radians(${degrees}) / 2), 2) END`;
}

function cosine(degrees: number): number {
  return Math.cos((degrees * Math.PI) / 180);
}
