import { hash } from 'node:crypto';
import pg from 'pg';

/** A pool, a connection inside a transaction, or anything else that runs one statement. */
export interface Database {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    statement: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>>;
}

/**
 * A statement that each connection parses once, by a name made of its text. For texts that are few: a connection keeps
 * each for as long as it lives.
 */
export function prepared({ text, values }: { text: string; values: unknown[] }): pg.QueryConfig {
  return { name: hash('sha1', text), text, values };
}

/** Where a database is and who we are there: what pg's Pool and Client take. */
export type Connection = pg.ClientConfig;

/** A pool whose connections see one service's schema first, so that its SQL names tables alone. */
export function openPool(
  connection: Connection,
  schema: string,
  max: number,
  extra: pg.PoolConfig = {},
): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    ...extra,
    max,
    options: `-c search_path=${schema},public -c timezone=UTC`,
    connectionTimeoutMillis: 10_000,
    // A connection that the server closed while idle (a restart) is replaced at the next use.
    keepAlive: true,
    application_name: 'fieldtrace',
  });
  // pg-pool removes a broken idle connection by itself; without a listener its error would end the process.
  pool.on('error', () => {});
  // The same while it is in use: the statement in flight is rejected and tells its caller what happened.
  pool.on('connect', client => client.on('error', () => {}));
  return pool;
}

/** The connection settings that a PostgreSQL URL stands for. */
export function connectionFromUrl(url: string): Connection {
  return { connectionString: url };
}

/**
 * Runs `work` inside one transaction: committed when it returns, rolled back when it throws. A connection that
 * broke on the way is closed, not handed on.
 */
export async function transaction<Result>(
  pool: pg.Pool,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    broken = false;
    return result;
  } catch (error) {
    await client.query('ROLLBACK').then(
      () => {
        broken = false;
      },
      () => {},
    );
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The five characters by which PostgreSQL names an error (its appendix A), or Node's name of a socket error. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/**
 * Whether the same transaction may well succeed when it is sent again: deadlocks and serialization failures
 * (40P01, 40001), lost connections and servers that stop or start (08, 57P, Node's socket errors), too many
 * connections (53300), and Citus' internal errors (XX000). Only the code decides: a worker's error carries no
 * names. The outcome of a COMMIT that broke is unknown, so what is repeated must be safe to repeat.
 */
export function isTransient(error: unknown): boolean {
  const code = errorCode(error);
  if (/^(40P01|40001|08...|57P0.|53300|XX000|E[A-Z]{3,})$/.test(code)) return true;
  return (
    code === '' &&
    error instanceof Error &&
    /^(Connection terminated|timeout exceeded|Client has)/.test(error.message)
  );
}

/** Longest wait for the database, in milliseconds: a health check is asked every few seconds. */
const PATIENCE_MS = 2000;

/** Whether the database answers, and answers in time. */
export async function isReachable(database: Database): Promise<boolean> {
  const answer = database.query({ text: 'SELECT 1' }).then(
    () => true,
    () => false,
  );
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), PATIENCE_MS);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
