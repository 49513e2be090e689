import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '../../files/whole-file.ts';
import { BackupError, GONE_REMEDY } from './backup-error.ts';
import type { BackupTarget, Listed } from './target.ts';

/** Files on their way in begin with this. */
const PARTIAL = '.partial-';
/** A file on its way in that is older was left by a process that was killed. */
const FORGOTTEN_MS = 24 * 3600 * 1000;

/** A target in a folder: another disk, or a network file system. */
export function folderTarget(folder: string): BackupTarget {
  const pathOf = (name: string) => path.join(folder, ...name.split('/'));

  async function* walk(below: string, prefix: string): AsyncIterable<Listed> {
    for (const entry of await entriesOf(below)) {
      const file = path.join(below, entry.name);
      if (entry.isDirectory()) {
        yield* walk(file, `${prefix}${entry.name}/`);
        continue;
      }
      const entryStat = await stat(file).catch(ignoreMissing);
      if (!entryStat) continue;
      if (!entry.name.startsWith(PARTIAL)) {
        yield { name: prefix + entry.name, bytes: entryStat.size, modified: entryStat.mtime };
      } else if (Date.now() - entryStat.mtimeMs > FORGOTTEN_MS) {
        await rm(file, { force: true });
      }
    }
  }

  return {
    location: `the folder ${folder}`,
    async put(name, bytes) {
      const target = pathOf(name);
      const parent = path.dirname(target);
      await makeFolders(folder, name);
      const partial = path.join(parent, `${PARTIAL}${randomUUID()}`);
      try {
        await writeSynced(partial, bytes);
        const outcome = await linkNew(partial, target);
        await syncFolder(parent);
        return outcome;
      } finally {
        await rm(partial, { force: true });
      }
    },
    get: name => readFile(pathOf(name)).catch(ignoreMissing),
    list: prefix => walk(pathOf(prefix), prefix),
    async folders(prefix) {
      const entries = await entriesOf(pathOf(prefix));
      return entries.filter(entry => entry.isDirectory()).map(({ name }) => name);
    },
    async remove(names) {
      for (const name of names) await rm(pathOf(name), { force: true });
    },
  };
}

async function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a file its name unless the name is taken. */
async function linkNew(partial: string, target: string): Promise<'stored' | 'exists'> {
  try {
    await link(partial, target);
    return 'stored';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return 'exists';
    // Some network and FAT file systems have no links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code ?? '')) throw error;
  }
  if (await stat(target).catch(ignoreMissing)) return 'exists';
  await rename(partial, target);
  return 'stored';
}

/**
 * Makes the folders of an object. That of the instance is made with the first object, its key: if it is missing later,
 * the disk is not mounted, and what is written to the mount point would fill the disk below.
 *
 * @throws BackupError
 */
async function makeFolders(folder: string, name: string): Promise<void> {
  const [instance = '', ...rest] = name.split('/');
  const own = path.join(folder, instance);
  if (rest.join('/') !== 'key' && !(await stat(own).catch(ignoreMissing))) {
    throw new BackupError(`${own} is missing. ${GONE_REMEDY}`);
  }
  const parent = path.dirname(path.join(folder, name));
  const first = await mkdir(parent, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = parent; made.length >= first.length; made = path.dirname(made)) {
    await syncFolder(path.dirname(made));
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return (await readdir(folder, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
