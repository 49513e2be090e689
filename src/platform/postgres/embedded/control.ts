import pg from 'pg';
import { ADVISORY_LOCKS } from '../locks/advisory-locks.ts';
import { superuser } from './initialise.ts';
import { socketPort } from './socket.ts';

/** The role of the services, and the database that it owns. */
export const applicationRole = 'fieldtrace';
export const applicationDatabase = 'fieldtrace';

/**
 * A connection of the supervisor's own; 'absent' when nobody listens at the socket; 'busy' when a server does
 * and takes no sessions: it starts, replays its log after a crash, shuts down or has no place left.
 */
export type Answer = pg.Client | 'absent' | 'busy';

/**
 * Asks the server for a session as superuser.
 * @throws Error when it refuses for good, as with a wrong password; system errors of the socket
 */
export async function askServer(socketDirectory: string, password: string): Promise<Answer> {
  const client = new pg.Client({
    host: socketDirectory,
    port: socketPort,
    user: superuser,
    password,
    database: 'postgres',
    application_name: `fieldtrace supervisor ${process.pid}`,
    connectionTimeoutMillis: 10_000,
    // Not given, PGSSLMODE would decide, and a server on a socket has no TLS.
    ssl: false,
  });
  // A lost connection is told by 'end' as well, which the supervisor listens to.
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
  // It ended, or stood still, in the middle of our question.
  if (['ECONNRESET', 'EPIPE', 'EAGAIN'].includes(code)) return 'busy';
  if (code === '' && /Connection terminated|timeout/.test(error.message)) return 'busy';
  throw error;
}

/**
 * Makes the role and the database of the services where they are missing, which is after initdb and after a
 * kill soon after it. Processes that do so at once wait for each other.
 */
export async function prepareDatabase(control: pg.Client, password: string): Promise<void> {
  if (await isPrepared(control)) return;
  await control.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.prepare]);
  try {
    const { role, database } = await whatIsThere(control);
    // CREATEDB, because tests clone template databases; nothing else beyond its own database.
    if (!role) {
      const secret = control.escapeLiteral(password);
      await control.query(`CREATE ROLE ${applicationRole} LOGIN CREATEDB PASSWORD ${secret}`);
    }
    if (!database) await control.query(`CREATE DATABASE ${applicationDatabase} OWNER ${applicationRole}`);
  } finally {
    await control.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.prepare]);
  }
}

async function isPrepared(control: pg.Client): Promise<boolean> {
  const { role, database } = await whatIsThere(control);
  return role && database;
}

async function whatIsThere(control: pg.Client): Promise<{ role: boolean; database: boolean }> {
  const { rows } = await control.query(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS role,
            EXISTS (SELECT FROM pg_database WHERE datname = $2) AS database`,
    [applicationRole, applicationDatabase],
  );
  return rows[0];
}
