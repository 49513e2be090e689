import pg from 'pg';
import { ADVISORY_LOCKS } from '../locks/advisory-locks.ts';
import { superuser } from './initialise.ts';
import { socketPort } from './socket.ts';

/** The role of the services, and the database that it owns. */
export const applicationRole = 'fieldtrace';
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
export async function askServer(socketDirectory: string, password: string): Promise<Answer> {
  const client = new pg.Client({
    host: socketDirectory,
    port: socketPort,
    user: superuser,
    password,
    database: 'postgres',
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
 * Creates the role and the database of the services if they are missing: after initdb, or after a kill soon after it.
 * Concurrent processes wait for each other.
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
