import type { Database } from '../database.ts';

/** Whether the rows of a table (a name of ours) are in shards of several servers. */
export async function isDistributed(database: Database, table: string): Promise<boolean> {
  const extension = await database.query({ text: `SELECT FROM pg_extension WHERE extname = 'citus'` });
  if (extension.rowCount === 0) return false;
  const { rowCount } = await database.query({
    text: 'SELECT FROM pg_dist_partition WHERE logicalrelid = $1::text::regclass',
    values: [table],
  });
  return rowCount !== 0;
}

/** The same, asked once, of the first database; an answer that failed is asked for again. */
export function distributionOf(table: string): (database: Database) => Promise<boolean> {
  let known: Promise<boolean> | undefined;
  return database => {
    known ??= isDistributed(database, table).catch(error => {
      known = undefined;
      throw error;
    });
    return known;
  };
}
