import type { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import type pg from 'pg';

/** A deadline of connections. */
export interface Deadline {
  /** milliseconds; rounded up to the next half second */
  ms: number;
  /**
   * What is timed: `statement`: each statement as a whole, from when the server could begin it to its end; `silence`:
   * the time without incoming data, for statements that stream.
   */
  of: 'statement' | 'silence';
}

/** How often connections are checked, in milliseconds. A process that was paused does not count the pause. */
const TICK_MS = 500;

/**
 * pg's internal state of a connection. Its own `query_timeout` is not suitable: it counts from when a statement is
 * queued, costs a timer each, and leaves the connection open unless it is pipelined. There is no other access to the
 * statement in flight and the socket. pg's version is pinned; one with other internals is refused at the first
 * connection.
 */
interface Inside {
  _activeQuery: object | null;
  /** absent until the connection is ready for the first time */
  readyForQuery?: boolean;
  connection: EventEmitter & { stream: Socket };
}

interface Watched {
  inside: Inside;
  deadline: Deadline;
  onMiss: () => void;
  /** the statement in flight at the last check, and the bytes received by then */
  statement: object | undefined;
  bytes: number;
  /** checks since then */
  ticks: number;
}

const watched = new Map<pg.ClientBase, Watched>();
let timer: NodeJS.Timeout | undefined;

/** @throws Error if pg's internals differ */
function insideOf(client: pg.ClientBase): Inside {
  const inside = client as unknown as Partial<Inside>;
  if (!('_activeQuery' in inside && inside.connection?.stream instanceof Socket))
    throw new Error('this version of pg is not known to platform/database/deadlines.ts');
  return inside as Inside;
}

/**
 * Destroys a connection if the server does not answer in time; everything in flight on it fails with ETIMEDOUT. A
 * server that is only slow notices that its client is gone (client_connection_check_interval) and gives up as well.
 *
 * One timer checks all connections, so that statements have no extra cost.
 *
 * @param onMiss called when the connection is destroyed
 */
export function watchDeadline(client: pg.ClientBase, deadline: Deadline, onMiss: () => void): void {
  const inside = insideOf(client);
  watched.set(client, { inside, deadline, onMiss, statement: undefined, bytes: 0, ticks: 0 });
  client.once('end', () => unwatch(client));
  timer ??= setInterval(look, TICK_MS).unref();
}

function unwatch(client: pg.ClientBase): void {
  watched.delete(client);
  if (watched.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function look(): void {
  for (const session of watched.values()) {
    const { inside, deadline } = session;
    const { stream } = inside.connection;
    const statement = inFlight(inside);
    const moved =
      statement !== session.statement || (deadline.of === 'silence' && heardOf(stream, session.bytes));
    session.statement = statement;
    session.bytes = stream.bytesRead;
    session.ticks = moved || statement === undefined ? 0 : session.ticks + 1;
    if (session.ticks * TICK_MS < deadline.ms) continue;
    session.ticks = 0;
    stream.destroy(deadlineError(`within ${deadline.ms / 1000} s`));
    session.onMiss();
  }
}

/**
 * Closes the idle connections of a pool. After a failover they are dead too, and each would cost another request its
 * deadline.
 */
export function closeIdle(pool: pg.Pool): void {
  const { _idle: idle } = pool as unknown as { _idle: { client: pg.ClientBase }[] };
  const error = deadlineError('in time on another connection');
  for (const { client } of [...idle]) insideOf(client).connection.stream.destroy(error);
}

/** Aborts everything in flight on the connections of a pool: their statements fail as after a missed deadline. */
export function breakOff(pool: pg.Pool): void {
  const { _clients: clients } = pool as unknown as { _clients: pg.ClientBase[] };
  const error = deadlineError('before the service stopped');
  for (const client of [...clients]) insideOf(client).connection.stream.destroy(error);
}

/** The statement in progress; the connection itself while a failed statement ends. */
function inFlight(inside: Inside): object | undefined {
  return inside._activeQuery ?? (inside.readyForQuery ? undefined : inside);
}

/** Whether data has arrived, or waits to be read by us. */
function heardOf(stream: Socket, bytes: number): boolean {
  return stream.bytesRead !== bytes || stream.readableLength > 0;
}

function deadlineError(when: string): Error {
  return Object.assign(new Error(`the database did not answer ${when}`), { code: 'ETIMEDOUT' });
}
