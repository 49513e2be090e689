import { accessSync, constants, existsSync, readdirSync, realpathSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { explainDenied } from '../platform/embedded-postgres/denied.ts';
import type { EmbeddedLook } from '../platform/embedded-postgres/look.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { FIRST_ADMIN_FILE } from '../trace-backend/identity/administration/first-admin.ts';
import { error, type Finding, inBytes, ok, warning } from './finding.ts';

/** Free space below which writes are about to fail, and below which it is time to act, in bytes. */
const LITTLE_BYTES = { error: 256 * 1024 ** 2, warning: 2 * 1024 ** 3 };
/** Free space below which the doctor warns, as a share of the disk. */
const LITTLE_PART = 0.05;
/** Files in DATA_DIR that only the owner can read. */
const PRIVATE = ['files', 'mail', 'backup', 'postgres/data', 'postgres/spool', FIRST_ADMIN_FILE];
/** Folders of DATA_DIR that the services write to. */
const WRITTEN = ['.', 'files', 'mail', 'backup', 'postgres'];

/** The free and the whole space of the file system of a folder that exists, in bytes. */
export function diskSpace(folder: string): { free: number; size: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}

/** DATA_DIR: whether it is there and usable, who can read what is in it, and how much space is left. */
export function checkDataDir(
  { DATA_DIR }: Pick<Settings, 'DATA_DIR'>,
  { layout }: Pick<EmbeddedLook, 'layout'>,
): Finding[] {
  const folder = path.resolve(DATA_DIR);
  try {
    statSync(folder, { throwIfNoEntry: false });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') throw cause;
    const { reason, remedy } = explainDenied(folder, folder);
    return [error('DATA_DIR', `${folder} cannot be read: ${reason}`, remedy)];
  }
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    return [
      warning(
        'DATA_DIR',
        `${folder} does not exist`,
        'a start creates it; if it existed before, check DATA_DIR',
      ),
    ];
  }
  // The database of root's DATA_DIR may be in a system directory, on another disk.
  const directories = [...new Set([realpathSync(folder), ...(layout ? [layout.home] : [])])];
  const disks = new Map(directories.map(directory => [statSync(directory).dev, directory]));
  return [checkPermissions(folder), ...[...disks.values()].map(checkDisk)];
}

function checkPermissions(folder: string): Finding {
  const closed = WRITTEN.map(name => path.join(folder, name)).filter(
    file => existsSync(file) && !isWritable(file),
  );
  if (closed.length > 0) {
    const { uid } = statSync(folder);
    const files = closed.join(' ');
    const remedy = `run as the owner of DATA_DIR (user id ${uid}), or chown -R ${process.getuid?.()} ${files}`;
    return error('DATA_DIR', `this user cannot write to ${closed.join(', ')}`, remedy);
  }
  const open = [...PRIVATE.map(name => path.join(folder, name)), ...passwordFiles(folder)].filter(isOpen);
  if (open.length === 0) return ok('DATA_DIR', `${folder}; only its owner can read private files`);
  return error('DATA_DIR', `others can read ${open.join(', ')}`, `chmod go= ${open.join(' ')}`);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function passwordFiles(folder: string): string[] {
  const home = path.join(folder, 'postgres');
  const names = statSync(home, { throwIfNoEntry: false }) ? readdirSync(home) : [];
  return names.filter(name => /password$/.test(name)).map(name => path.join(home, name));
}

function isOpen(file: string): boolean {
  return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}

function checkDisk(directory: string): Finding {
  const { free, size } = diskSpace(directory);
  const message = `${inBytes(free)} of ${inBytes(size)} free at ${directory}`;
  const remedy = 'free or add space; with a full disk, reads still work and writes return 503';
  if (free < LITTLE_BYTES.error) return error('disk', message, remedy);
  if (free < LITTLE_BYTES.warning || free < size * LITTLE_PART) return warning('disk', message, remedy);
  return ok('disk', message);
}
