/**
 * A failure that a retry of the same request may not have. Clients get 503 with Retry-After.
 *
 * - away: the server or the connection is gone, or did not answer in time
 * - busy: no connection, memory or lock is available for now
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
  away: { message: 'the database is not responding', retryAfter: 2 },
  busy: { message: 'the database is at capacity', retryAfter: 5 },
  conflict: { message: 'the change conflicts with a concurrent change', retryAfter: 1 },
  full: { message: 'the database has no disk space left', retryAfter: 10 },
  'read-only': { message: 'the database is not accepting writes', retryAfter: 5 },
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
/** Node's codes of socket errors; a unix socket without a server is ENOENT. */
const SOCKET_ERROR = /^E[A-Z]{3,}(_[A-Z]+)?$/;
const SOCKET_CALLS = new Set([undefined, 'connect', 'read', 'write', 'getaddrinfo', 'shutdown']);
/** Messages of pg without a code. */
const PG_MESSAGE = /^(Connection terminated|timeout exceeded|timeout expired|Client (has|was closed))/;

/** The SQLSTATE of an error, or Node's code of a system error. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/**
 * Classifies transient errors of the database; all code uses this function. Only codes decide, because errors of
 * Citus workers have no names. The outcome of a broken COMMIT is unknown, so only idempotent work may be retried.
 */
export function passingTrouble(error: unknown): Trouble | undefined {
  const kind = kindOf(error);
  return kind && { kind, ...troubles[kind] };
}

function kindOf(error: unknown): TroubleKind | undefined {
  // Errors of the client's connection have an HTTP status, and also socket errors' codes.
  if ((error as { statusCode?: unknown } | null)?.statusCode !== undefined) return undefined;
  const code = errorCode(error);
  if (SQLSTATE.test(code)) return kindOfSqlState(error, code);
  if (SOCKET_ERROR.test(code)) return kindOfSystemError(code, (error as NodeJS.ErrnoException).syscall);
  return code === '' && error instanceof Error && PG_MESSAGE.test(error.message) ? 'away' : undefined;
}

function kindOfSqlState(error: unknown, code: string): TroubleKind | undefined {
  const kind = sqlStates.find(([pattern]) => pattern.test(code))?.[1];
  if (kind) return kind;
  // After FATAL the connection is gone, for any reason.
  const { severity } = error as { severity: unknown };
  return severity === 'FATAL' || severity === 'PANIC' ? 'away' : undefined;
}

function kindOfSystemError(code: string, syscall: string | undefined): TroubleKind | undefined {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  if (code === 'EMFILE' || code === 'ENFILE') return 'busy';
  return SOCKET_CALLS.has(syscall) ? 'away' : undefined;
}

/**
 * Whether a connection must be closed after an error instead of being released: a server that became read-only was
 * demoted, and new connections go to its successor.
 */
export function closesConnection(error: unknown): boolean {
  return kindOf(error) === 'read-only';
}

/** SQLSTATEs of a server that starts, stops, or has no room for a session now (PostgreSQL's appendix A). */
const LATER = /^(08...|53...|57P0.)$/;
/** Other SQLSTATEs, such as a wrong password, and a host or a socket that the settings name wrongly. */
const WRONG = /^([0-9A-DF-Z][0-9A-Z]{4}|ENOTFOUND|EACCES|EPERM)$/;

/** Whether an attempt to connect failed because the server is away, and not because of a wrong setting. */
export function mayConnectLater(error: unknown): boolean {
  const code = errorCode(error);
  return LATER.test(code) || (!WRONG.test(code) && passingTrouble(error) !== undefined);
}
