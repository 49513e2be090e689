import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type pg from 'pg';
import { transaction } from '../database/database.ts';
import { findFileStoreId, lockFileStoreId, recordFileStoreId } from '../database/file-store-id.ts';
import { isUuid } from '../database/uuid.ts';
import { Problem } from '../http/problems.ts';
import { SettingsError } from '../settings/settings.ts';
import type { FileStore } from './file-store.ts';

const KEY = 'store/id';

/**
 * Checks that this process uses the file store with the database's files. A store has an id, which the first process
 * records in the database.
 *
 * @param pool of a service, whose table `file_store` holds the id
 * @throws SettingsError if the database's files are in another store
 */
export async function checkFileStore(pool: pg.Pool, files: FileStore): Promise<void> {
  await transaction(pool, async database => {
    await lockFileStoreId(database);
    const recorded = await findFileStoreId(database);
    const own = await readStoreId(files);
    if (recorded === undefined) await recordFileStoreId(database, own ?? (await writeId(files)), new Date());
    else if (recorded !== own) throw new SettingsError(refusal(files, own, recorded));
  });
}

/**
 * Compares this process's file store with the one that the database records, without changing either.
 *
 * @returns a sentence about what differs; undefined if nothing does, or nothing is recorded yet
 */
export async function compareFileStore(pool: pg.Pool, files: FileStore): Promise<string | undefined> {
  const recorded = await findFileStoreId(pool);
  const own = await readStoreId(files);
  return recorded === undefined || recorded === own ? undefined : refusal(files, own, recorded);
}

/**
 * Records this process's file store as the one with the database's files, replacing an earlier record.
 *
 * @returns the store's id
 */
export async function adoptFileStore(pool: pg.Pool, files: FileStore): Promise<string> {
  return transaction(pool, async database => {
    await lockFileStoreId(database);
    const id = (await readStoreId(files)) ?? (await writeId(files));
    await recordFileStoreId(database, id, new Date());
    return id;
  });
}

/**
 * The id of a store; undefined if it has none yet.
 *
 * @throws SettingsError if it is damaged; Problem if the store cannot be read
 */
export async function readStoreId(files: FileStore): Promise<string | undefined> {
  if ((await files.size(KEY)) === undefined) return undefined;
  const id = (await text(await files.read(KEY))).trim();
  if (!isUuid(id)) throw new SettingsError(`${KEY} in ${files.location} is damaged: it must contain a UUID`);
  return id;
}

/** Whether a store could not be read because it is away, and not because of a wrong setting. */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code !== 'unavailable') return false;
  const { $metadata, code } = error.cause as { $metadata?: { httpStatusCode?: number }; code?: string };
  return $metadata !== undefined && code !== 'ENOTFOUND' && ($metadata.httpStatusCode ?? 500) >= 500;
}

async function writeId(files: FileStore): Promise<string> {
  const id = randomUUID();
  await files.put(KEY, Buffer.from(`${id}\n`));
  return id;
}

function refusal({ location }: FileStore, own: string | undefined, recorded: string): string {
  const mismatch = own === undefined ? 'has no id' : `has the id ${own}`;
  return (
    `DATA_DIR, S3_BUCKET: the database's files are in the file store ${recorded}, and ${location} ${mismatch}. All processes ` +
    'on one database need the same files: share the folder, or use S3. If these are the files (moved, or restored ' +
    'without their id), record that with `fieldtrace files adopt`'
  );
}
