import type pg from 'pg';
import { SettingsError } from '../settings/settings.ts';
import { type Connection, withSession } from './database.ts';
import type { Roles } from './roles/divide.ts';

/**
 * The role of the owner's session and that of the services; undefined if they are the same.
 *
 * @throws SettingsError if the two connections do not lead to the same database
 */
export async function rolesOf(owner: pg.Client, service: Connection): Promise<Roles | undefined> {
  const [ours, theirs] = [await identify(owner), await withSession(service, identify)];
  if (ours.place !== theirs.place) {
    throw new SettingsError('DATABASE_OWNER_URL must point to the same database as DATABASE_URL');
  }
  return ours.role === theirs.role ? undefined : { owner: ours.role, service: theirs.role };
}

/**
 * What an operator should know about the roles: that the services could change packets, log and audit.
 *
 * @param schemas of the services
 * @returns undefined if the role of the services has no rights of the owner of the tables
 */
export async function oneRoleWarning(
  service: Connection,
  schemas: readonly string[],
): Promise<string | undefined> {
  return withSession(service, async client => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
       WHERE nspname = ANY ($1) AND relkind IN ('r', 'p') AND pg_has_role(relowner, 'MEMBER')`,
      [schemas],
    );
    if (rowCount === 0) return undefined;
    return (
      'DATABASE_URL: the role of the services owns their tables, so anyone who takes over a service could change ' +
      'packets, log and audit; use two roles (docs/operations.md, "Two roles")'
    );
  });
}

/** The role of a session, and the database that it is in. */
async function identify(client: pg.Client): Promise<{ role: string; place: string }> {
  const { rows } = await client.query(
    `SELECT current_user AS role, extract(epoch FROM pg_postmaster_start_time()) || '/' || oid AS place
     FROM pg_database WHERE datname = current_database()`,
  );
  return rows[0];
}
