import { explainDenied } from './denied.ts';

/** Why the embedded PostgreSQL cannot run, in one sentence for the operator. */
export class EmbeddedPostgresError extends Error {
  constructor(sentence: string, cause?: unknown) {
    super(sentence, { cause });
    this.name = 'EmbeddedPostgresError';
  }
}

const reasons: Record<string, string> = {
  EACCES: 'permission is denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a file is where a directory is needed',
  EIO: 'the disk reports an input/output error',
  ELOOP: 'symbolic links form a loop',
  ENAMETOOLONG: 'the path is too long',
  ENOLCK: 'this file system has no file locks',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file is where a directory is needed',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
};

/** Error messages of the C library in the server's messages, and their codes. */
const spokenCodes: [RegExp, string][] = [
  [/No space left on device|wrote only \d+ of \d+ bytes/, 'ENOSPC'],
  [/Disk quota exceeded/i, 'EDQUOT'],
  [/Read-only file system/, 'EROFS'],
  [/Permission denied/, 'EACCES'],
  [/Input\/output error/, 'EIO'],
];

/** Turns an error of a file operation into a message for operators; other errors are returned unchanged. */
export function asRefusal(dataDir: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof EmbeddedPostgresError) return error;
  const { code, path, address } = error as NodeJS.ErrnoException & { address?: string };
  const reason = code === undefined ? undefined : reasons[code];
  if (reason === undefined) return error;
  if (code === 'EACCES') {
    const { reason: why, remedy } = explainDenied(path ?? dataDir, dataDir);
    return new EmbeddedPostgresError(
      `DATA_DIR ${dataDir} cannot be used: ${reason} at ${path ?? dataDir} (${code}), because ${why}; ${remedy}.`,
      error,
    );
  }
  return new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} cannot be used: ${reason} at ${path ?? address ?? dataDir} (${code}).`,
    error,
  );
}

/**
 * The message for a failed program of PostgreSQL.
 * @param ended its exit code or the signal that ended it
 * @param lines what it wrote, newest last
 * @param logPath where to read on
 */
export function refusalOfProgram(
  dataDir: string,
  program: string,
  ended: string | undefined,
  lines: string[],
  logPath?: string,
): EmbeddedPostgresError {
  // The cause may be logged before the failure that follows from it.
  const trouble = lines.findLast(line => codeIn(line) !== undefined);
  const telling =
    (trouble === undefined ? tellingLine(lines) : withoutPrefix(trouble)) || 'it printed no message';
  const happened = ended?.startsWith('SIG') ? `was ended by ${ended}` : 'failed';
  const what = `${program} ${happened}: ${telling}${logPath === undefined ? '' : `; its log is ${logPath}`}`;
  const code = codeIn(telling);
  const reason = code === undefined ? what : `${reasons[code]} (${what})`;
  return new EmbeddedPostgresError(`DATA_DIR ${dataDir} cannot be used: ${reason}.`);
}

function codeIn(line: string): string | undefined {
  return spokenCodes.find(([spoken]) => spoken.test(line))?.[1];
}

/** The newest line with a reason, without its time and process id. */
export function tellingLine(lines: string[]): string {
  return withoutPrefix(lines.filter(isSaying).findLast(isSevere) ?? '') || newestLine(lines);
}

/** The newest line, without its time and process id. */
export function newestLine(lines: string[]): string {
  return withoutPrefix(lines.findLast(isSaying) ?? '');
}

/** Whether the line says why a program ended. */
export function isSevere(line: string): boolean {
  return /\b(PANIC|FATAL|initdb: error):/.test(line);
}

/** Clients that connect too early get a FATAL error, which is fatal only for them. */
function isSaying(line: string): boolean {
  return !/^\s*$|FATAL: +the database system is /.test(line);
}

function withoutPrefix(line: string): string {
  return line.replace(/^.*?\b(PANIC|FATAL|ERROR|LOG|initdb: error):\s+/, '').replace(/\.?\s*$/, '');
}
