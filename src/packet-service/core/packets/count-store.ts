import sql, { join } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { ReadableThreads } from '../access/caller.ts';
import { firstUuidAt } from '../packet-format/ulid.ts';
import { conditionsOf, idConditions, OWN, type PacketFilter } from './filter-store.ts';

/** How many packets were made since a time, by the time in their ids; counts no further than `limit`. */
export async function countPacketsSince(database: Database, since: Date, limit: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count
    FROM (SELECT 1 FROM packets WHERE id >= ${firstUuidAt(since)}::uuid LIMIT ${limit}) AS recent`);
  return rows[0]?.count ?? 0;
}

/** How many packets are in the range of ids of a filter, erased ones included; counts no further than `limit`. */
export async function countMade(
  database: Database,
  { made_from, made_to }: PacketFilter,
  limit: number,
): Promise<number> {
  const conditions = join(idConditions({ made_from, made_to }), ' AND ');
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (SELECT 1 FROM ${OWN.from} WHERE ${conditions} LIMIT ${limit}) AS made`);
  return rows[0]?.count ?? 0;
}

/**
 * How many packets were made in each of the hours that follow a time, by the time in their ids; counts no further than
 * `limit` in an hour.
 *
 * @param threads the only threads whose messages count; undefined for all
 */
export async function countByHour(
  database: Database,
  {
    from,
    hours,
    limit,
    threads,
  }: { from: Date; hours: number; limit: number; threads: ReadableThreads | undefined },
): Promise<number[]> {
  const bounds = Array.from({ length: hours + 1 }, (_, n) =>
    firstUuidAt(new Date(from.getTime() + n * 3_600_000)),
  );
  const conditions = join(conditionsOf({ threads }, OWN), ' AND ');
  const ofHours = bounds.slice(0, -1).map(
    (first, n) => sql`
      SELECT ${n}::int AS n, count(*)::int AS count FROM (
        SELECT 1 FROM ${OWN.from}
        WHERE p.id >= ${first}::uuid AND p.id < ${bounds[n + 1]}::uuid AND ${conditions} LIMIT ${limit}) AS made`,
  );
  const { rows } = await database.query<{ count: number }>(sql`${join(ofHours, ' UNION ALL ')} ORDER BY n`);
  return rows.map(({ count }) => count);
}
