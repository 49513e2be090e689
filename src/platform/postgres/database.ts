import { hash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { closeIdle, type Deadline, watchDeadline } from './deadlines.ts';
import { closesConnection, passingTrouble, type TroubleKind } from './troubles.ts';

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

/** Longest wait for a connection, new or from the pool, in milliseconds. */
export const CONNECT_MS = 5000;
/** Longest that a statement takes unless its pool says otherwise. */
const STATEMENT_DEADLINE: Deadline = { ms: 10_000, of: 'statement' };
/** The same for what an operator runs, and nobody waits for. */
const WORK_DEADLINE: Deadline = { ms: 10 * 60_000, of: 'statement' };
/** A transaction in which the server waits so long for us is rolled back: its process hangs, or the network is cut. */
const IDLE_TRANSACTION_MS = 30_000;
/** How often a server that works on a statement looks whether its client is still there, in milliseconds. */
const CLIENT_CHECK_MS = 2000;

export interface PoolOptions {
  /** sends statements before the one before is answered */
  pipeline?: boolean;
  /** when a connection that does not answer is destroyed; 10 seconds for each statement where it is not given */
  deadline?: Deadline;
  /** told when the server refuses a write that it may take later: its disk is full, or it is read-only */
  onRefusal?: (kind: TroubleKind) => void;
}

/**
 * A pool whose connections see one service's schema first, so that its SQL names tables alone. A connection on which
 * the server misses the deadline is destroyed, and replaced at the next use.
 */
export function openPool(
  connection: Connection,
  schema: string,
  max: number,
  { pipeline = false, deadline = STATEMENT_DEADLINE, onRefusal }: PoolOptions = {},
): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    pipeline,
    max,
    connectionTimeoutMillis: CONNECT_MS,
    // A connection that the server closed while idle (a restart) is replaced at the next use.
    keepAlive: true,
    application_name: 'fieldtrace',
    onConnect(client) {
      watchDeadline(client, deadline, () => closeIdle(pool));
      if (onRefusal) tellRefusals(client, onRefusal);
      return client.query(sessionSettings(schema, deadline)).then(() => {});
    },
  });
  // pg-pool removes a broken idle connection by itself; without a listener its error would end the process.
  pool.on('error', () => {});
  // The same while it is in use: the statement in flight is rejected and tells its caller what happened.
  pool.on('connect', client => client.on('error', () => {}));
  return pool;
}

/**
 * Sent on every new connection instead of the startup parameter `options`, which PgBouncer does not take. Servers on
 * Windows cannot look whether their client is there.
 */
function sessionSettings(schema: string, { ms }: Deadline): string {
  return `SET search_path = ${pg.escapeIdentifier(schema)}, public; SET timezone = 'UTC';
    SET idle_in_transaction_session_timeout = ${Math.max(ms, IDLE_TRANSACTION_MS)};
    SELECT set_config('client_connection_check_interval', '${CLIENT_CHECK_MS}', false)
    WHERE version() !~* 'windows|mingw|msvc|visual c'`;
}

function tellRefusals(client: pg.ClientBase, onRefusal: (kind: TroubleKind) => void): void {
  const { connection } = client as unknown as { connection: EventEmitter };
  connection.on('errorMessage', error => {
    const kind = passingTrouble(error)?.kind;
    if (kind === 'full' || kind === 'read-only') onRefusal(kind);
  });
}

/** The connection settings that a PostgreSQL URL stands for. */
export function connectionFromUrl(url: string): Connection {
  return { connectionString: url };
}

/**
 * Runs `work` inside one transaction: committed when it returns, rolled back when it throws. A connection that
 * broke on the way is closed, not handed on. Statements that `work` sends at once are sent one after the other.
 */
export async function transaction<Result>(
  pool: pg.Pool,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    const result = await work(oneByOne(client));
    await client.query('COMMIT');
    broken = false;
    return result;
  } catch (error) {
    await client.query('ROLLBACK').then(
      () => {
        broken = closesConnection(error);
      },
      () => {},
    );
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Sends each statement when the one before it is answered: pg's own queue for them ends with its version 9. */
function oneByOne(client: pg.PoolClient): Database {
  let last: Promise<unknown> = Promise.resolve();
  return {
    query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      const answer = last.then(() => client.query<Row>(statement));
      last = answer.catch(() => {});
      return answer;
    },
  };
}

/** Asks the server for nothing but an answer. */
export async function readSomething(database: Database): Promise<void> {
  await database.query({ text: 'SELECT 1' });
}

/** A pool that sees one service's tables, for as long as some work takes. */
export async function withPool<Result>(
  connection: Connection,
  schema: string,
  work: (pool: pg.Pool) => Promise<Result>,
): Promise<Result> {
  const pool = openPool(connection, schema, 2, { deadline: WORK_DEADLINE });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
