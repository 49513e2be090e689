import { existsSync } from 'node:fs';
import pg from 'pg';
import { ADVISORY_LOCKS } from '../database/locks/advisory-locks.ts';
import { divide } from '../database/roles/divide.ts';
import { superuser } from './initialise.ts';
import { type Layout, makePassword, randomPassword, readPassword } from './layout.ts';
import { socketPort } from './socket.ts';

/** The role of the services. */
export const applicationRole = 'fieldtrace';
/** The role that owns their tables, and migrates them. */
export const ownerRole = 'fieldtrace_owner';
export const applicationDatabase = 'fieldtrace';

/**
 * The supervisor's connection; 'absent' if nothing listens at the socket; 'busy' if a server accepts no sessions: it
 * is starting, replaying its WAL after a crash, shutting down or has no free connection.
 */
export type Answer = pg.Client | 'absent' | 'busy';

/**
 * Opens a session as superuser.
 * @throws Error if it refuses permanently, as with a wrong password; system errors of the socket
 */
export async function queryServer(
  socketDirectory: string,
  password: string,
  database = 'postgres',
): Promise<Answer> {
  const client = new pg.Client({
    host: socketDirectory,
    port: socketPort,
    user: superuser,
    password,
    database,
    application_name: `fieldtrace supervisor ${process.pid}`,
    connectionTimeoutMillis: 10_000,
    // Otherwise PGSSLMODE would decide, and a server on a socket has no TLS.
    ssl: false,
  });
  // A lost connection also emits 'end', which the supervisor listens to.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.end().catch(() => {});
    return answerIn(error as NodeJS.ErrnoException);
  }
}

function answerIn(error: NodeJS.ErrnoException): Answer {
  const code = error.code ?? '';
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'absent';
  // Operator intervention (starting, recovering, shutting down) and insufficient resources.
  if (/^(57|53)/.test(code)) return 'busy';
  // It ended, or hung, during our query.
  if (['ECONNRESET', 'EPIPE', 'EAGAIN'].includes(code)) return 'busy';
  if (code === '' && /Connection terminated|timeout/.test(error.message)) return 'busy';
  throw error;
}

/**
 * Creates the roles and the database of the services if they are missing, which is after initdb or after a kill soon
 * after it, and gives the tables to their owner if an earlier version made them. Concurrent processes wait for each
 * other.
 *
 * @param open opens a session of the superuser in the database of the services
 * @throws EmbeddedPostgresError if the password of the services is gone
 */
export async function prepareDatabase(
  control: pg.Client,
  layout: Layout,
  open: () => Promise<pg.Client>,
): Promise<void> {
  if (isPrepared(await whatIsThere(control), layout)) return;
  await control.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.prepare]);
  try {
    const there = await whatIsThere(control);
    if (isPrepared(there, layout)) return;
    if (!there.service) await makeRole(control, applicationRole, readPassword(layout, layout.password));
    await makeOwner(control, layout, there.owner);
    if (!there.database) await control.query(`CREATE DATABASE ${applicationDatabase} OWNER ${ownerRole}`);
    await control.query(`ALTER ROLE ${applicationRole} NOCREATEDB`);
    const session = await open();
    try {
      await session.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrate]);
      await divide(session, { owner: ownerRole, service: applicationRole });
    } finally {
      await session.end();
    }
  } finally {
    await control.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.prepare]);
  }
}

/** The database gets its owner in the transaction that gives the tables theirs. */
function isPrepared(there: Present, { ownerPassword }: Layout): boolean {
  return there.service && there.owner && there.database && there.owned && existsSync(ownerPassword);
}

/**
 * Makes the role of the owner, and then the file with its password. Without the file, the role gets another password: a
 * base backup may be older than the role, which is then in the log alone.
 */
async function makeOwner(control: pg.Client, layout: Layout, exists: boolean): Promise<void> {
  if (exists && existsSync(layout.ownerPassword)) return;
  const password = existsSync(layout.ownerPassword)
    ? readPassword(layout, layout.ownerPassword)
    : randomPassword();
  if (exists) await control.query(`ALTER ROLE ${ownerRole} PASSWORD ${control.escapeLiteral(password)}`);
  // CREATEDB, because tests clone template databases.
  else await makeRole(control, ownerRole, password, 'CREATEDB');
  makePassword(layout.ownerPassword, password);
}

async function makeRole(control: pg.Client, name: string, password: string, also = ''): Promise<void> {
  await control.query(`CREATE ROLE ${name} LOGIN ${also} PASSWORD ${control.escapeLiteral(password)}`);
}

/** Which of the roles there are, whether there is the database, and whether it belongs to the owner of the tables. */
interface Present {
  service: boolean;
  owner: boolean;
  database: boolean;
  owned: boolean;
}

async function whatIsThere(control: pg.Client): Promise<Present> {
  const { rows } = await control.query<Present>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS service,
            EXISTS (SELECT FROM pg_roles WHERE rolname = $2) AS owner,
            EXISTS (SELECT FROM pg_database WHERE datname = $3) AS database,
            EXISTS (SELECT FROM pg_database WHERE datname = $3 AND pg_get_userbyid(datdba) = $2
              AND datacl IS NOT NULL) AS owned`,
    [applicationRole, ownerRole, applicationDatabase],
  );
  return rows[0] as Present;
}
