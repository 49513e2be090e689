import type pg from 'pg';
import type { Database } from '../database.ts';

/** Where the reads of a request go: the same object for all requests that read from the same server. */
export interface ReadFrom {
  /** a replica, with the primary for statements that fail there; or the primary itself */
  database: Database;
  primary: Database;
  /** the connections that exports read with, and others to the same server */
  copying: ReadPools;
  /** the same of the primary */
  primaryCopying: ReadPools;
}

/** A server that reads are sent to. */
export interface ReadPools {
  /** reads of requests */
  pool: pg.Pool;
  exports: pg.Pool;
}

export function fromPrimary(pools: ReadPools): ReadFrom {
  return { database: pools.pool, primary: pools.pool, copying: pools, primaryCopying: pools };
}

/**
 * Reads from a replica. Each statement that fails there, for whatever reason, runs again on the primary: the replica
 * may be gone, replaying may have cancelled the statement (40001, 57014), or it may lack a migration. The primary has
 * everything that the replica had, so that statements of one request may be answered by both.
 *
 * @param onFailure called with the error of each such statement
 */
export function fromReplica(
  pools: ReadPools,
  primary: ReadPools,
  onFailure: (error: unknown) => void,
): ReadFrom {
  const database: Database = {
    async query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      try {
        return await pools.pool.query<Row>(statement);
      } catch (error) {
        onFailure(error);
        return primary.pool.query<Row>(statement);
      }
    },
  };
  return { database, primary: primary.pool, copying: pools, primaryCopying: primary };
}

export function isReplica({ database, primary }: ReadFrom): boolean {
  return database !== primary;
}

/** Looks for something that the primary may have already and a replica not. */
export async function findOnEither<Result>(
  from: ReadFrom,
  find: (database: Database) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const result = await find(from.database);
  return result === undefined && isReplica(from) ? find(from.primary) : result;
}
