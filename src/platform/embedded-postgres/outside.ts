import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { type Layout, syncDirectory } from './layout.ts';

/** Where root stores files for the server's account if only root can enter DATA_DIR or the program's folder. */
export const SYSTEM_DIRECTORY = '/var/lib/fieldtrace';

/** Files that a refused start leaves in DATA_DIR/postgres; none is needed. */
const LEFTOVERS = [
  'password',
  'superuser-password',
  'owner-password',
  'server.log',
  'transition.lock',
  'users.lock',
  'socket',
];

/**
 * PostgreSQL's programs in the system directory, copied when this version is not there yet.
 * @returns undefined where no other account may enter that directory, or an account besides root may write in it
 */
export function copiedBinaries(binaries: Binaries, system: string): Binaries | undefined {
  if (!makeSystemDirectory(system)) return undefined;
  const native = dirname(dirname(binaries.postgres));
  const copy = join(system, `postgresql-${binaries.version}`);
  if (!existsSync(copy)) {
    const fresh = mkdtempSync(`${copy}.new-`);
    try {
      cpSync(native, fresh, { recursive: true, verbatimSymlinks: true });
      openToAll(fresh);
      // Fails if another process was faster, whose copy is equivalent.
      renameSync(fresh, copy);
      syncDirectory(system);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  const program = (path: string) => join(copy, 'bin', basename(path));
  return { ...binaries, initdb: program(binaries.initdb), postgres: program(binaries.postgres) };
}

/**
 * Replaces DATA_DIR/postgres, which holds no database yet, by a symbolic link to a new directory in the system
 * directory. The caller holds the transition lock; afterwards it prepares the layout again.
 * @returns the new directory, or that of a faster process, or undefined if it cannot be done safely
 */
export function moveHome(layout: Layout, system: string): string | undefined {
  const link = join(layout.dataDir, 'postgres');
  // Another process may have moved it since this one prepared its layout.
  const there = realpathSync(link);
  if (there !== layout.home) return there;
  if (lstatSync(link).isSymbolicLink() || existsSync(layout.cluster)) return undefined;
  if (!makeSystemDirectory(system)) return undefined;
  if (readdirSync(link).some(name => !LEFTOVERS.includes(name))) return undefined;
  const home = mkdtempSync(join(system, 'data-'));
  // As in prepareLayout.
  chmodSync(home, 0o711);
  // Made now, because processes that wait for the old ones look for them here next.
  for (const lock of [layout.transitionLock, layout.usersLock]) {
    writeFileSync(join(home, basename(lock)), '', { mode: 0o600 });
  }
  for (const name of LEFTOVERS) rmSync(join(link, name), { recursive: true, force: true });
  rmdirSync(link);
  symlinkSync(home, link);
  syncDirectory(layout.dataDir);
  return home;
}

/** Made if missing, in a directory of root; safe when nobody but root can change either of them. */
function makeSystemDirectory(system: string): boolean {
  if (process.geteuid?.() !== 0 || !belongsToRoot(dirname(system))) return false;
  try {
    mkdirSync(system, { mode: 0o755 });
    // Regardless of umask.
    chmodSync(system, 0o755);
  } catch (error) {
    // EROFS and the like: then the refusal stays.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  return belongsToRoot(system);
}

function belongsToRoot(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === 0 && (stats.mode & 0o022) === 0;
}

function openToAll(path: string): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  chmodSync(path, stats.isDirectory() || stats.mode & 0o100 ? 0o755 : 0o644);
  if (stats.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}
