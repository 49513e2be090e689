import sql from 'sql-template-tag';
import type { Database } from '../../platform/database.ts';

/** Longest wait for the database, in milliseconds: a health check is asked every few seconds. */
const PATIENCE_MS = 2000;

/** Whether the database answers, and answers in time. */
export async function isReachable(database: Database): Promise<boolean> {
  const answer = database.query(sql`SELECT 1`).then(
    () => true,
    () => false,
  );
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), PATIENCE_MS);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
