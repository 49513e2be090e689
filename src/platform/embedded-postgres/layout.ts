import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './refusals.ts';

/** The paths, all absolute and free of symbolic links. */
export interface Layout {
  dataDir: string;
  /** DATA_DIR/postgres: only what this folder's code and the server made. */
  home: string;
  /** PostgreSQL's own data directory. */
  cluster: string;
  password: string;
  superuserPassword: string;
  ownerPassword: string;
  log: string;
  /** Where the server archives its write-ahead log while backups are on. */
  spool: string;
  /** Is there while a restore into this directory has not ended. */
  unfinishedRestore: string;
  /** Held while the server is being made, launched or stopped. */
  transitionLock: string;
  /** Held shared by every process that uses the server. */
  usersLock: string;
}

/**
 * Makes DATA_DIR and what this process needs in it.
 * @throws file system errors, with their path
 */
export function prepareLayout(dataDir: string): Layout {
  makeDirectory(dataDir);
  const real = realpathSync(dataDir);
  const directory = join(real, 'postgres');
  if (makeDirectory(directory)) {
    // Others may pass through, because as root the server runs as one of them; nothing in it is theirs to read.
    chmodSync(directory, 0o711);
  }
  // It may be a link into a system directory: see outside.ts.
  const layout = layoutIn(real, realpathSync(directory));
  accessSync(layout.home, constants.W_OK);
  for (const lock of [layout.transitionLock, layout.usersLock]) {
    makeEmptyFile(lock);
    accessSync(lock, constants.R_OK | constants.W_OK);
  }
  return layout;
}

/** The paths in a DATA_DIR, without making anything; undefined if no embedded server was ever started in it. */
export function findLayout(dataDir: string): Layout | undefined {
  const directory = join(dataDir, 'postgres');
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) return undefined;
  return layoutIn(realpathSync(dataDir), realpathSync(directory));
}

function layoutIn(dataDir: string, home: string): Layout {
  return {
    dataDir,
    home,
    cluster: join(home, 'data'),
    password: join(home, 'password'),
    superuserPassword: join(home, 'superuser-password'),
    ownerPassword: join(home, 'owner-password'),
    log: join(home, 'server.log'),
    spool: join(home, 'spool'),
    unfinishedRestore: join(home, 'restore-unfinished'),
    transitionLock: join(home, 'transition.lock'),
    usersLock: join(home, 'users.lock'),
  };
}

/** Makes a directory and its parents; true when it was not there. */
function makeDirectory(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  if (dirname(path) !== path) makeDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have been faster.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
  chownSync(path, ...heir(path));
  return true;
}

/**
 * The owner for new files at this path: as root, the owner of the directory, so that one start with sudo leaves
 * nothing in a user's directory that this user cannot use afterwards.
 */
function heir(path: string): [uid: number, gid: number] {
  if (process.geteuid?.() !== 0) return [-1, -1];
  const { uid, gid } = statSync(dirname(path));
  return [uid, gid];
}

/** Never opens a file that is there: closing it again would drop this process's locks on it. */
function makeEmptyFile(path: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    fchownSync(file, ...heir(path));
    closeSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Opens the server's log for appending; never through a symbolic link, since root may be writing it. */
export function openLog(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  fchownSync(file, ...heir(path));
  return file;
}

export function randomPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** Stores a password, by default a random one, in a file, atomically, unless there is one. */
export function makePassword(path: string, password = randomPassword()): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  const file = openSync(fresh, 'wx', 0o600);
  try {
    fchownSync(file, ...heir(path));
    writeSync(file, `${password}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
}

/** @throws EmbeddedPostgresError when the file is gone or empty */
export function readPassword(layout: Layout, path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const password = stats === undefined ? '' : readFileSync(path, 'utf8').trim();
  if (password !== '') return password;
  throw new EmbeddedPostgresError(
    `DATA_DIR ${layout.dataDir} contains a database but not its password, ${path}: restore the file from ` +
      'where this directory was copied.',
  );
}

/** The passwords of all roles, by the names of their files. */
export function readPasswords({ home }: Layout): Record<string, string> {
  const names = readdirSync(home).filter(name => /^([a-z]+-)?password$/.test(name));
  return Object.fromEntries(names.map(name => [name, readFileSync(join(home, name), 'utf8').trim()]));
}

/** A rename or a new file is on the disk only when its directory is. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
