import sql from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';

/** The kinds of counts of a label. */
export type Kind = 'VISIT' | 'AUTH_TRUE' | 'AUTH_FALSE' | 'ORIGIN_TRUE' | 'ORIGIN_FALSE';

export interface Increment {
  labelId: number;
  kind: Kind;
  count: number;
}

/** Adds to the counts of labels, in one statement; deleted labels are ignored. */
export async function addCounts(database: Database, increments: readonly Increment[]): Promise<void> {
  // Processes update rows in the same order, so that they do not deadlock.
  const sorted = increments.toSorted((a, b) => a.labelId - b.labelId || (a.kind < b.kind ? -1 : 1));
  await database.query(sql`
WITH existing AS MATERIALIZED (
      SELECT id FROM product_labels WHERE id = ANY (${sorted.map(({ labelId }) => labelId)}::integer[])
      ORDER BY id FOR KEY SHARE)
    INSERT INTO label_counts AS counts (label_id, kind, count)
    SELECT label_id, kind, count FROM unnest(${sorted.map(({ labelId }) => labelId)}::integer[],
      ${sorted.map(({ kind }) => kind)}::text[], ${sorted.map(({ count }) => count)}::bigint[])
      WITH ORDINALITY AS added (label_id, kind, count, position)
JOIN existing ON existing.id = label_id ORDER BY position
    ON CONFLICT (label_id, kind) DO UPDATE SET count = counts.count + excluded.count`);
}

/** The counts of a label; kinds that never occurred are missing. */
export async function findCounts(
  database: Database,
  labelId: number,
): Promise<Partial<Record<Kind, number>>> {
  const { rows } = await database.query<{ kind: Kind; count: number }>(sql`
    SELECT kind, count::float8 AS count FROM label_counts WHERE label_id = ${labelId}`);
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
}
