import { spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { type Account, serverEnvironment } from './account.ts';
import type { Binaries } from './binaries.ts';
import { type Layout, makePassword, readPassword, syncDirectory } from './layout.ts';
import { EmbeddedPostgresError, refusalOfProgram } from './refusals.ts';

/** The bootstrap superuser: of the supervisor and of backups, never of the services. */
export const superuser = 'fieldtrace_superuser';

/**
 * Fills an empty directory with PostgreSQL's files.
 *
 * @param directory is there, with its owner and mode
 * @param owner who shall own what is in it
 * @returns the passwords of its roles, by the names of their files
 */
export type Fill = (
  directory: string,
  owner: { uid: number; gid: number },
) => Promise<Record<string, string>>;

const workPrefix = 'new-';

/**
 * Refuses a data directory of another major version, one that contains no database, and one that has gone after a server
 * ran on it, without changing them.
 * @returns whether there is a database
 */
export function hasCluster(layout: Layout, binaries: Binaries): boolean {
  if (!existsSync(layout.cluster)) {
    if (!existsSync(layout.log)) return false;
    throw new EmbeddedPostgresError(
      `DATA_DIR ${layout.dataDir} cannot be used: its database is gone from ${layout.cluster}; mount its disk or ` +
        `restore a backup, or move ${layout.home} away to start with an empty one.`,
    );
  }
  const versionFile = join(layout.cluster, 'PG_VERSION');
  if (!existsSync(versionFile)) {
    throw new EmbeddedPostgresError(
      `DATA_DIR ${layout.dataDir} cannot be used: ${layout.cluster} exists but contains no database; move it away ` +
        'to start with an empty one.',
    );
  }
  const major = readFileSync(versionFile, 'utf8').trim();
  if (major === binaries.major) return true;
  throw new EmbeddedPostgresError(
    `DATA_DIR ${layout.dataDir} contains a database of PostgreSQL ${major}, but this version includes PostgreSQL ` +
      `${binaries.major}: export it with the fieldtrace version that created it and import it into a new DATA_DIR; nothing ` +
      'was changed.',
  );
}

/**
 * Makes the data directory next to its final path and renames it when it is complete and on the disk, so that one
 * cut off by a kill or a full disk is never taken for a database. The caller holds the transition lock.
 */
export async function initialise(
  layout: Layout,
  binaries: Binaries,
  account: Account,
  logger: Logger,
  fill?: Fill,
): Promise<void> {
  const began = Date.now();
  const work = mkdtempSync(join(layout.home, workPrefix));
  try {
    if (fill) {
      const { uid = process.geteuid?.() ?? 0, gid = process.getegid?.() ?? 0 } = account;
      mkdirSync(join(work, 'data'), { mode: 0o700 });
      chownSync(join(work, 'data'), uid, gid);
      const passwords = await fill(join(work, 'data'), { uid, gid });
      for (const [name, password] of Object.entries(passwords))
        makePassword(join(layout.home, name), password);
      renameSync(join(work, 'data'), layout.cluster);
      syncDirectory(layout.home);
      return;
    }
    makePassword(layout.password);
    makePassword(layout.superuserPassword);
    const passwordFile = join(work, 'password');
    writeFileSync(passwordFile, readPassword(layout, layout.superuserPassword), { mode: 0o600 });
    if (account.uid !== undefined) {
      chownSync(passwordFile, account.uid, account.gid ?? -1);
      chownSync(work, account.uid, account.gid ?? -1);
    }
    await runInitdb(layout, binaries, account, join(work, 'data'), passwordFile);
    renameSync(join(work, 'data'), layout.cluster);
    syncDirectory(layout.home);
  } finally {
    removeUnfinished(layout);
  }
  logger.info({ milliseconds: Date.now() - began }, `created a database in ${layout.cluster}`);
}

/**
 * Removes what an initdb that was cut off has written. An initdb that lost its fieldtrace ends at its next line of
 * progress; what it writes until then is left for the next start. The caller holds the transition lock.
 */
export function removeUnfinished(layout: Layout): void {
  for (const name of readdirSync(layout.home)) {
    if (!name.startsWith(workPrefix)) continue;
    try {
      rmSync(join(layout.home, name), { recursive: true, force: true });
    } catch {
      // It is in use, or cannot be removed: then what is done next will tell why.
    }
  }
}

async function runInitdb(
  layout: Layout,
  binaries: Binaries,
  account: Account,
  directory: string,
  passwordFile: string,
): Promise<void> {
  const [command, ...words] = [
    ...account.prefix,
    binaries.initdb,
    `--pgdata=${directory}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The same order and the same letters on every machine, whatever its C library says.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    // Some extensions ask the C library what a letter is; with plain C they see none beyond ASCII.
    `--lc-ctype=${process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`,
    '--no-instructions',
  ];
  const child = spawn(command as string, words, {
    uid: account.uid,
    gid: account.gid,
    cwd: '/',
    env: serverEnvironment(),
    // Both are pipes: when this process is killed, initdb ends at its next line of progress.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ?? String(code)));
  });
  const [, errors, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (end === '0') return;
  const lines = errors.split('\n').filter(line => !/removing |child process exited/.test(line));
  throw refusalOfProgram(layout.dataDir, 'initdb', end, lines);
}
