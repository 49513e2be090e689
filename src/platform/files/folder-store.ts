import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { checkKey, type FileStore, isKey } from './file-store.ts';
import { missing, receive, storing } from './received.ts';
import { makeFolder, syncFolder } from './whole-file.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Stores files in a folder, with the key as path. Several processes may share the folder. */
export function folderStore(folder: string): FileStore {
  // On the same file system as the rest, so that files can be moved by rename.
  const receiving = receivingFolder(folder);
  const pathOf = (key: string) => path.join(folder, ...checkKey(key).split('/'));

  return {
    ...receiving,
    location: `the folder ${folder}`,
    async put(key, content) {
      const target = pathOf(key);
      const received = content instanceof Uint8Array ? await receiving.keep(content) : content;
      await storing(async () => {
        await makeFolders(folder, key);
        await rename(received.path, target);
        await syncFolder(path.dirname(target));
      });
    },
    size: key =>
      storing(() =>
        stat(pathOf(key)).then(
          ({ size }) => size,
          error => {
            if (error.code === 'ENOENT') return undefined;
            throw error;
          },
        ),
      ),
    read: (key, range) =>
      storing(async () => {
        const file = await open(pathOf(key)).catch(error => {
          throw error.code === 'ENOENT' ? missing(key) : error;
        });
        return file.createReadStream(range);
      }),
    list: () => listKeys(folder, ''),
    remove: key => storing(() => rm(pathOf(key), { force: true })),
    removeAll: prefix => storing(() => rm(pathOf(prefix), { recursive: true, force: true })),
  };
}

/** @param prefix of the keys in this folder: empty, or with / at its end */
async function* listKeys(folder: string, prefix: string): AsyncIterable<string> {
  const entries = await storing(() =>
    readdir(folder, { withFileTypes: true }).catch(error => {
      if (error.code === 'ENOENT') return [];
      throw error;
    }),
  );
  for (const entry of entries) {
    const key = prefix + entry.name;
    if (entry.isDirectory() && !entry.name.startsWith('.')) {
      yield* listKeys(path.join(folder, entry.name), `${key}/`);
    } else if (entry.isFile() && isKey(key)) {
      yield key;
    }
  }
}

/** The local part of every store: incoming files in the folder `.receiving`. */
export function receivingFolder(folder: string) {
  const receiving = path.join(folder, '.receiving');
  return {
    receive: (
      source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
      maxBytes: number,
      tooLarge: () => Error,
    ) => receive(receiving, source, maxBytes, tooLarge),
    keep: (bytes: Uint8Array) => receive(receiving, [bytes], bytes.length, () => new Error('unreachable')),
    removeForgotten: (now: Date) =>
      storing(async () => {
        await makeFolder(folder);
        await makeFolder(receiving);
        for (const name of await readdir(receiving)) {
          const file = path.join(receiving, name);
          const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
          if (now.getTime() - mtimeMs > DAY_MS) await rm(file, { force: true });
        }
      }),
  };
}

/** Makes the folders of a key one by one, so that each gets its owner and mode. */
async function makeFolders(folder: string, key: string): Promise<void> {
  await makeFolder(folder);
  let inside = folder;
  for (const segment of key.split('/').slice(0, -1)) {
    inside = path.join(inside, segment);
    await makeFolder(inside);
  }
}
