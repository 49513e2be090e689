import type { Database } from '../database.ts';

/** Whether all workers say that they have no prepared part of a transaction of a session of the coordinator. */
export async function isFinished(database: Database, pid: number): Promise<boolean> {
  const { rows } = await database.query<{ isFinished: boolean }>({
    text: `SELECT bool_and(success AND result = '0') AS "isFinished" FROM run_command_on_workers($1)`,
    values: [`SELECT count(*) FROM pg_prepared_xacts WHERE starts_with(gid, 'citus_0_${pid}_')`],
  });
  return rows[0]?.isFinished === true;
}
