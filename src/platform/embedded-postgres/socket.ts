import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, realpathSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Account } from './account.ts';
import type { Layout } from './layout.ts';
import { EmbeddedPostgresError } from './refusals.ts';

/** There is no such port on the network; it is part of the socket's name. */
export const socketPort = 5432;
/** In bytes, of a socket's path on macOS; Linux takes four more. */
const longestSocketPath = 103;

/**
 * The directory of the server's socket, created if missing; only the server's account may enter it. It is in
 * DATA_DIR, or, if that path is too long for a socket, in /tmp under a name derived from the path. Not in
 * os.tmpdir(): processes with another TMPDIR must find the same one.
 * @throws EmbeddedPostgresError if another account owns it or may enter it
 */
export function prepareSocketDirectory(layout: Layout, account: Account): string {
  const directory = socketDirectory(layout);
  const owner = account.uid ?? process.geteuid?.();
  make(directory, account);
  if (!isPrivate(directory, owner)) {
    // An empty one may belong to an account that was chosen before there was a database.
    removeIfEmpty(directory);
    make(directory, account);
  }
  if (isPrivate(directory, owner)) return directory;
  throw new EmbeddedPostgresError(
    `DATA_DIR ${layout.dataDir} cannot be used: ${directory}, for the server's socket, must be a directory ` +
      `that user ${owner} owns and nobody else can enter (0700); remove what is there.`,
  );
}

/** Leaves nothing in /tmp; in DATA_DIR the empty directory may stay. The server must have ended. */
export function removeSocketDirectory(layout: Layout, directory: string): void {
  if (dirname(directory) !== layout.home) removeIfEmpty(directory);
}

/** Where the socket of the server in a DATA_DIR is. */
export function socketDirectory(layout: Pick<Layout, 'home' | 'cluster'>): string {
  const near = join(layout.home, 'socket');
  if (Buffer.byteLength(join(near, `.s.PGSQL.${socketPort}`)) <= longestSocketPath) return near;
  const name = createHash('sha256').update(layout.cluster).digest('hex').slice(0, 20);
  return join(realpathSync('/tmp'), `fieldtrace-${name}`);
}

function make(directory: string, account: Account): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
    if (account.uid !== undefined) chownSync(directory, account.uid, account.gid ?? -1);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Does not follow symbolic links, which anyone can create in /tmp. */
function isPrivate(directory: string, owner: number | undefined): boolean {
  const stats = lstatSync(directory);
  return stats.isDirectory() && stats.uid === owner && (stats.mode & 0o077) === 0;
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // Gone already, no directory, not empty, or not ours.
  }
}
