import type { Database } from '../database.ts';

/**
 * The parts of the coordinator's transactions that workers have prepared and not yet committed or rolled back, by
 * their names.
 *
 * @returns undefined if not all workers answered
 */
export async function preparedParts(database: Database): Promise<ReadonlySet<string> | undefined> {
  const { rows } = await database.query<{ success: boolean; result: string }>({
    text: 'SELECT success, result FROM run_command_on_workers($1)',
    values: [
      `SELECT coalesce(string_agg(gid, ','), '') FROM pg_prepared_xacts
       WHERE database = current_database() AND starts_with(gid, 'citus_0_')`,
    ],
  });
  if (rows.some(({ success }) => !success)) return undefined;
  return new Set(rows.flatMap(({ result }) => (result === '' ? [] : result.split(','))));
}

/** Whether a prepared part belongs to a transaction of a session of the coordinator, by the session's process id. */
export function isOfSession(part: string, pid: number): boolean {
  return part.startsWith(`citus_0_${pid}_`);
}
