import pg from 'pg';
import { SettingsError } from '../settings/settings.ts';
import type { Connection } from './database.ts';

/** Timeout of each query at the start, in milliseconds. */
const PATIENCE_MS = 10_000;
/** Each round detects a pooler in transaction mode with certainty unless others used it in between. */
const ROUNDS = 5;

/**
 * Checks before the start whether the server has enough connections for this process, and whether a connection is one
 * session of the server.
 *
 * @param processes that are about to start
 * @param needed connections that each of them opens at most
 * @param pooled whether there may be a connection pooler in between
 * @returns a warning for operators; undefined if there is none
 * @throws SettingsError when it cannot work
 */
export async function checkServer(
  connection: Connection,
  processes: number,
  needed: number,
  pooled: boolean,
): Promise<string | undefined> {
  const options = { ...connection, connectionTimeoutMillis: PATIENCE_MS, query_timeout: PATIENCE_MS };
  const [first, second] = [new pg.Client(options), new pg.Client(options)];
  first.on('error', () => {});
  second.on('error', () => {});
  try {
    await first.connect();
    const finding = await checkRoom(first, processes, needed);
    if (!pooled) return finding;
    await second.connect();
    await checkSessions(first, second);
    return finding;
  } finally {
    await Promise.all([first.end(), second.end()]);
  }
}

/** The limits of the server, the role and the database, each with the connections in use. */
const LIMITS = `
  WITH others AS (
    SELECT usename, datname FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
  )
  SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) AS places,
    (SELECT count(*)::int FROM others) AS taken
  UNION ALL
  SELECT rolconnlimit, (SELECT count(*)::int FROM others WHERE usename = rolname)
  FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0
  UNION ALL
  SELECT datconnlimit, (SELECT count(*)::int FROM others WHERE others.datname = pg_database.datname)
  FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0`;

async function checkRoom(
  client: pg.Client,
  processes: number,
  perProcess: number,
): Promise<string | undefined> {
  const { rows } = await client.query<{ places: number; taken: number }>(LIMITS);
  const needed = processes * perProcess;
  const wants =
    processes === 1
      ? `this process opens up to ${needed} connections`
      : `${processes} workers open up to ${needed} connections`;
  const remedy =
    'lower DATABASE_POOL, or raise max_connections of the server (or the limit of the role or database)';
  const allowed = Math.min(...rows.map(row => row.places));
  if (needed > allowed) {
    throw new SettingsError(`DATABASE_POOL: ${wants} and the server allows ${allowed}: ${remedy}`);
  }
  const short = rows.find(row => needed + row.taken > row.places);
  if (!short) return undefined;
  return `${wants}, and ${short.taken} of the server's ${short.places} are in use: requests may have to wait; ${remedy}`;
}

/**
 * Two open connections have two sessions, unless a pooler hands sessions out for single transactions. Prepared
 * statements, LISTEN and settings belong to a session, so nothing works over such a pooler.
 *
 * @throws SettingsError
 */
async function checkSessions(first: pg.Client, second: pg.Client): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await pidOf(first);
    await second.query('BEGIN');
    const others = await pidOf(second);
    const after = await pidOf(first);
    await second.query('COMMIT');
    if (before === after && before !== others) continue;
    throw new SettingsError(
      'DATABASE_URL: the connection pooler assigns sessions per transaction; use session mode ' +
        '(PgBouncer: pool_mode = session), or the address of the server itself',
    );
  }
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid as number;
}
