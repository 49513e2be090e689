import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { endsWithin } from '../concurrency/ends-within.ts';
import { parseJsonText } from '../json-text.ts';
import { closeIdle, type Deadline, watchDeadline } from './deadlines.ts';
import { hashOf } from './statement-name.ts';
import { type OnSlow, timedClient } from './timed-client.ts';
import { closesConnection, errorCode, passingTrouble, type TroubleKind } from './troubles.ts';

/** A pool, a connection inside a transaction, or anything else that runs one statement. */
export interface Database {
  /** whether its statements are parts of one transaction */
  isTransaction?: true;
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    statement: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>>;
}

/**
 * A statement that each connection parses once, by a name made of its text. Only for a small number of texts, because
 * a connection keeps each for its lifetime.
 */
export function prepared({ text, values }: { text: string; values: unknown[] }): pg.QueryConfig {
  return { name: hashOf(text), text, values };
}

pg.types.setTypeParser(pg.types.builtins.JSON, parseJsonText);
pg.types.setTypeParser(pg.types.builtins.JSONB, parseJsonText);

/** Connection settings for pg's Pool and Client. */
export type Connection = pg.ClientConfig;

/** Longest wait for a connection, new or from the pool, in milliseconds. */
export const CONNECT_MS = 5000;
/** Idle time after which a connection is closed, in milliseconds: who reads a page waits for no new one after it. */
const IDLE_MS = 5 * 60_000;
/** Longest that a statement takes unless its pool says otherwise. */
const STATEMENT_DEADLINE: Deadline = { ms: 10_000, of: 'statement' };
/** The same for commands of operators. */
const WORK_DEADLINE: Deadline = { ms: 10 * 60_000, of: 'statement' };
/** Idle time after which the server rolls back a transaction, because its client hangs or the network is cut. */
const IDLE_TRANSACTION_MS = 30_000;
/** How often a server that works on a statement checks whether its client is connected, in milliseconds. */
const CLIENT_CHECK_MS = 2000;

/** Observes a pool, for metrics and the log. */
export interface PoolWatch {
  /** from which on a statement is slow, in milliseconds; 0 for never */
  slowMs: number;
  opened(pool: pg.Pool): void;
  onSlow: OnSlow;
  /** a connection broke, or was destroyed because it missed its deadline */
  onLost(error: Error): void;
}

export interface PoolOptions {
  /** pipelines statements */
  pipeline?: boolean;
  /** when a connection that does not answer is destroyed; 10 seconds for each statement where it is not given */
  deadline?: Deadline;
  /** called if the server refuses a write that it may accept later: its disk is full, or it is read-only */
  onRefusal?: (kind: TroubleKind) => void;
  watch?: PoolWatch | undefined;
  /** gets the notices of the server, with the process id of the session there */
  onNotice?: (message: string | undefined, pid: number) => void;
}

/**
 * A pool whose search_path begins with one service's schema, so that SQL needs no schema names. A connection on which
 * the server misses the deadline is destroyed, and replaced at the next use.
 */
export function openPool(
  connection: Connection,
  schema: string,
  max: number,
  { pipeline = false, deadline = STATEMENT_DEADLINE, onRefusal, watch, onNotice }: PoolOptions = {},
): pg.Pool {
  // A stream lasts as long as its client reads.
  const isTimed = watch !== undefined && watch.slowMs > 0 && deadline.of === 'statement';
  const pool = new pg.Pool({
    ...connection,
    ...(isTimed && { Client: timedClient(watch.slowMs, watch.onSlow) }),
    pipeline,
    max,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    // A connection that the server closed while idle (a restart) is replaced at the next use.
    keepAlive: true,
    application_name: 'fieldtrace',
    onConnect(client) {
      watchDeadline(client, deadline, () => closeIdle(pool));
      if (onRefusal) reportRefusals(client, onRefusal);
      return client.query(sessionSettings(schema, deadline)).then(() => {});
    },
  });
  // pg-pool removes a broken idle connection; without a listener its error would end the process.
  pool.on('error', () => {});
  // The same while it is in use: the statement in flight is rejected. pg-pool's own listener passes errors of idle
  // connections on to the pool, so that this one gets both.
  pool.on('connect', client => {
    if (onNotice) {
      const { processID } = client as unknown as { processID: number };
      client.on('notice', ({ message }) => onNotice(message, processID));
    }
    let isLost = false;
    client.on('error', error => {
      if (!isLost) watch?.onLost(error);
      isLost = true;
    });
  });
  watch?.opened(pool);
  return pool;
}

/**
 * Sent on every new connection instead of the startup parameter `options`, which PgBouncer does not accept. Servers
 * on Windows cannot check whether their client is connected.
 */
function sessionSettings(schema: string, { ms }: Deadline): string {
  return `SET search_path = ${pg.escapeIdentifier(schema)}, public; SET timezone = 'UTC';
    SET idle_in_transaction_session_timeout = ${Math.max(ms, IDLE_TRANSACTION_MS)};
    SELECT set_config('client_connection_check_interval', '${CLIENT_CHECK_MS}', false)
    WHERE version() !~* 'windows|mingw|msvc|visual c'`;
}

function reportRefusals(client: pg.ClientBase, onRefusal: (kind: TroubleKind) => void): void {
  const { connection } = client as unknown as { connection: EventEmitter };
  connection.on('errorMessage', error => {
    const kind = passingTrouble(error)?.kind;
    if (kind === 'full' || kind === 'read-only') onRefusal(kind);
  });
}

/** The connection settings of a PostgreSQL URL. */
export function connectionFromUrl(url: string): Connection {
  return { connectionString: url };
}

/**
 * Runs `work` inside one transaction: committed when it returns, rolled back when it throws. A broken connection is
 * closed, not released. BEGIN is sent with the first statement and COMMIT with the last; on a pool that does not
 * pipeline, statements are sent one after the other.
 *
 * @throws the error of a statement, also if `work` did not wait for it or caught it
 */
export async function transaction<Result>(
  pool: pg.Pool,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  const query = (client as { pipeline?: boolean }).pipeline
    ? <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) => client.query<Row>(statement)
    : oneByOne(client);
  let failure: unknown;
  const database: Database = {
    isTransaction: true,
    query(statement) {
      const answer = query(statement) as ReturnType<Database['query']>;
      answer.catch(error => {
        if (errorCode(error) !== ABORTED) failure = error;
      });
      return answer as never;
    },
  };
  let broken = true;
  try {
    database.query({ text: 'BEGIN' }).catch(() => {});
    const result = await work(database);
    const { command } = await database.query({ text: 'COMMIT' });
    // The answer to the COMMIT of an aborted transaction is ROLLBACK.
    if (command !== 'COMMIT') throw failure;
    broken = false;
    return result;
  } catch (error) {
    const cause = errorCode(error) === ABORTED && failure ? failure : error;
    await query({ text: 'ROLLBACK' }).then(
      () => {
        broken = closesConnection(cause);
      },
      () => {},
    );
    throw cause;
  } finally {
    client.release(broken);
  }
}

/** SQLSTATE of statements behind a failed one of the same transaction (in_failed_sql_transaction). */
const ABORTED = '25P02';

/**
 * Executes a statement whose result nobody needs, prepared by its text. In a transaction it does not wait for the answer:
 * if the statement fails, the transaction does.
 */
export async function execute(
  database: Database,
  statement: { text: string; values: unknown[] },
): Promise<void> {
  const answer = database.query(prepared(statement));
  if (database.isTransaction) answer.catch(() => {});
  else await answer;
}

/** Sends each statement when the previous one has been answered, because pg removes its own queue in version 9. */
function oneByOne(client: pg.PoolClient): Database['query'] {
  let last: Promise<unknown> = Promise.resolve();
  return statement => {
    const answer = last.then(() => client.query(statement));
    last = answer.catch(() => {});
    return answer as never;
  };
}

/** Executes a trivial statement. */
export async function readSomething(database: Database): Promise<void> {
  await database.query({ text: 'SELECT 1' });
}

/** Runs some work in a session of its own, in which no statement takes longer than 10 seconds. */
export async function withSession<Result>(
  connection: Connection,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    ...connection,
    application_name: 'fieldtrace session',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_DEADLINE.ms,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    // A server that has fallen silent does not say goodbye either.
    await endsWithin(client.end(), CONNECT_MS);
  }
}

/** Runs some work with a temporary pool of one service's schema. */
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
