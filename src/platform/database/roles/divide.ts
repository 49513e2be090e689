import { readFile } from 'node:fs/promises';
import type pg from 'pg';

/** Divides a database between the owner of its tables and the role of the services. */
const TWO_ROLES = new URL('./two-roles.sql', import.meta.url);

/** Names of the two roles. */
export interface Roles {
  /** owns the tables */
  owner: string;
  /** is used by the services */
  service: string;
}

/**
 * Divides the database of a session between two roles, as far as that was not done yet.
 *
 * @param session of a superuser, or of the owner, who can only give rights on new tables; it holds the migration lock,
 * because concurrent GRANTs fail
 */
export async function divide(session: pg.Client, { owner, service }: Roles): Promise<void> {
  const text = await readFile(TWO_ROLES, 'utf8');
  await session.query("SELECT set_config('fieldtrace.owner', $1, false)", [owner]);
  await session.query("SELECT set_config('fieldtrace.service', $1, false)", [service]);
  await session.query(text);
}
