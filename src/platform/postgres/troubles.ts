/**
 * A failure that a later try of the same request may get past. What a client is told is 503 with Retry-After.
 *
 * - away: the server or the connection is gone, or did not answer in time
 * - busy: no connection, memory or lock is to be had for now
 * - conflict: the transaction lost against a concurrent one (deadlock, serialization failure)
 * - full: the disk is full; reads go on
 * - read-only: the server takes no writes (a standby, or set so); reads go on
 */
export type TroubleKind = 'away' | 'busy' | 'conflict' | 'full' | 'read-only';

export interface Trouble {
  kind: TroubleKind;
  /** for the client, without "try again" */
  message: string;
  /** seconds */
  retryAfter: number;
}

const troubles: Record<TroubleKind, Omit<Trouble, 'kind'>> = {
  away: { message: 'the database does not answer', retryAfter: 2 },
  busy: { message: 'the database has no capacity left for now', retryAfter: 5 },
  conflict: { message: 'the change collided with another one', retryAfter: 1 },
  full: { message: 'the database has no disk space left', retryAfter: 10 },
  'read-only': { message: 'the database takes no writes for now', retryAfter: 5 },
};

/**
 * SQLSTATEs (PostgreSQL's appendix A) by what they mean here. XX000 is in the list because Citus reports lost workers
 * by it. 25P03 and 57P05 are connections that the server closed because they idled, 57014 a statement that the server
 * or an administrator cancelled.
 */
const sqlStates: [RegExp, TroubleKind][] = [
  [/^(40P01|40001)$/, 'conflict'],
  [/^53100$/, 'full'],
  [/^25006$/, 'read-only'],
  [/^(53...|55P03)$/, 'busy'],
  [/^(08...|57P0.|57014|25P03|58030|XX000)$/, 'away'],
];

/** No class of SQLSTATEs begins with the E that all of Node's names begin with. */
const SQLSTATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;
/** Node's names of socket errors; a unix socket without a server behind it is ENOENT. */
const SOCKET_ERROR = /^E[A-Z]{3,}(_[A-Z]+)?$/;
const SOCKET_CALLS = new Set([undefined, 'connect', 'read', 'write', 'getaddrinfo', 'shutdown']);
/** What pg says without a code. */
const PG_MESSAGE = /^(Connection terminated|timeout exceeded|timeout expired|Client (has|was closed))/;

/** The five characters by which PostgreSQL names an error (its appendix A), or Node's name of a system error. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/**
 * What passing trouble an error of the database is, if it is one: this is the one place that decides. Only codes
 * decide; a Citus worker's error carries no names. The outcome of a COMMIT that broke is unknown, so what is repeated
 * must be safe to repeat.
 */
export function passingTrouble(error: unknown): Trouble | undefined {
  const kind = kindOf(error);
  return kind && { kind, ...troubles[kind] };
}

function kindOf(error: unknown): TroubleKind | undefined {
  // An HTTP status stands in errors about the client's connection, which have socket errors' codes as well.
  if ((error as { statusCode?: unknown } | null)?.statusCode !== undefined) return undefined;
  const code = errorCode(error);
  if (SQLSTATE.test(code)) return kindOfSqlState(error, code);
  if (SOCKET_ERROR.test(code)) return kindOfSystemError(code, (error as NodeJS.ErrnoException).syscall);
  return code === '' && error instanceof Error && PG_MESSAGE.test(error.message) ? 'away' : undefined;
}

function kindOfSqlState(error: unknown, code: string): TroubleKind | undefined {
  const found = sqlStates.find(([pattern]) => pattern.test(code))?.[1];
  if (found) return found;
  // After FATAL the connection is gone: the server refuses this one, whatever its reason.
  const { severity } = error as { severity: unknown };
  return severity === 'FATAL' || severity === 'PANIC' ? 'away' : undefined;
}

function kindOfSystemError(code: string, syscall: string | undefined): TroubleKind | undefined {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  if (code === 'EMFILE' || code === 'ENFILE') return 'busy';
  return SOCKET_CALLS.has(syscall) ? 'away' : undefined;
}

/**
 * Whether a connection must be closed after an error instead of being handed on: a server that became read-only was
 * demoted, and new connections go to the one that took its place.
 */
export function closesConnection(error: unknown): boolean {
  return kindOf(error) === 'read-only';
}
