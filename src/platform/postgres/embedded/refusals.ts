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
  EEXIST: 'a file stands where a directory is needed',
  EIO: 'the disk reports an input/output error',
  ELOOP: 'symbolic links run in a circle',
  ENAMETOOLONG: 'the path is too long',
  ENOLCK: 'this file system has no file locks',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file stands where a directory is needed',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
};

/** What the C library says in the server's own messages, and the code of the same trouble. */
const spokenCodes: [RegExp, string][] = [
  [/No space left on device|wrote only \d+ of \d+ bytes/, 'ENOSPC'],
  [/Disk quota exceeded/i, 'EDQUOT'],
  [/Read-only file system/, 'EROFS'],
  [/Permission denied/, 'EACCES'],
  [/Input\/output error/, 'EIO'],
];

/** Turns what a file operation threw into a sentence; any other error comes back as it was. */
export function asRefusal(dataDir: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof EmbeddedPostgresError) return error;
  const { code, path, address } = error as NodeJS.ErrnoException & { address?: string };
  const reason = code === undefined ? undefined : reasons[code];
  if (reason === undefined) return error;
  return new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} cannot be used: ${reason} at ${path ?? address ?? dataDir} (${code}).`,
    error,
  );
}

/**
 * The sentence for a program of PostgreSQL that failed.
 * @param ended its exit code or the signal that ended it
 * @param lines what it wrote, newest last
 * @param log where to read on
 */
export function refusalOfProgram(
  dataDir: string,
  program: string,
  ended: string | undefined,
  lines: string[],
  log?: string,
): EmbeddedPostgresError {
  // The trouble itself may be told before the failure that follows from it.
  const trouble = lines.findLast(line => codeIn(line) !== undefined);
  const telling =
    (trouble === undefined ? tellingLine(lines) : withoutPrefix(trouble)) || 'it left no message';
  const happened = ended?.startsWith('SIG') ? `was ended by ${ended}` : 'failed';
  const what = `${program} ${happened}: ${telling}${log === undefined ? '' : `; its log is ${log}`}`;
  const code = codeIn(telling);
  const reason = code === undefined ? what : `${reasons[code]} (${what})`;
  return new EmbeddedPostgresError(`DATA_DIR ${dataDir} cannot be used: ${reason}.`);
}

function codeIn(line: string): string | undefined {
  return spokenCodes.find(([spoken]) => spoken.test(line))?.[1];
}

/** The newest line that gives a reason, without its time and process id. */
export function tellingLine(lines: string[]): string {
  return withoutPrefix(lines.filter(isSaying).findLast(isSevere) ?? '') || newestLine(lines);
}

/** The newest line, without its time and process id. */
export function newestLine(lines: string[]): string {
  return withoutPrefix(lines.findLast(isSaying) ?? '');
}

/** Whether the line tells why a program ended. */
export function isSevere(line: string): boolean {
  return /\b(PANIC|FATAL|initdb: error):/.test(line);
}

/** To a client who comes too early the server says that it starts; that is fatal for the client only. */
function isSaying(line: string): boolean {
  return !/^\s*$|FATAL: +the database system is /.test(line);
}

function withoutPrefix(line: string): string {
  return line.replace(/^.*?\b(PANIC|FATAL|ERROR|LOG|initdb: error):\s+/, '').replace(/\.?\s*$/, '');
}
