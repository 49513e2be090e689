import pLimit from 'p-limit';
import type { Database } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { findUses } from './references-store.ts';
import { originalKey, renditionKey } from './renditions.ts';
import { findImages, type Image, listImages } from './store.ts';

/** Images that one statement reads. */
const BATCH = 500;
/** Files that are asked for at once. */
const AT_ONCE = 8;
/** Records that are named of those which lack a file. */
const NAMED = 5;

/** What of an image or a document is not as it was stored. */
export interface ImageMismatch {
  storageKey: string;
  fault: string;
  /** whether the fault is that a file is not in the store */
  isMissingFile: boolean;
}

/**
 * Verifies that images and documents have their files. Their rows have no hash, so of what was received the size is
 * compared, and of what is served that it is there.
 *
 * @returns how many there are
 */
export async function verifyImages(
  database: Database,
  files: FileStore,
  onMismatch: (mismatch: ImageMismatch) => void,
): Promise<number> {
  const limit = pLimit(AT_ONCE);
  let count = 0;
  let last = 0;
  for (;;) {
    const images = await listImages(database, last, BATCH);
    const found = await limit.map(images, async image => {
      const found = await faultOf(files, image);
      if (found === undefined) return [];
      const fault = `${found.fault}${await usesOf(database, image.storageKey)}`;
      // Since its row was read, it may have expired.
      const still = await findImages(database, [image.storageKey]);
      return still.map(({ storageKey }) => ({ ...found, storageKey, fault }));
    });
    found.flat().forEach(onMismatch);
    count += images.length;
    if (images.length < BATCH) return count;
    last = images.at(-1)?.id as number;
  }
}

/** The records that have an image or a document, in words. */
async function usesOf(database: Database, storageKey: string): Promise<string> {
  const uses = await findUses(database, storageKey);
  const records = uses.flatMap(({ entity, entityIds }) =>
    entityIds.map(id => `${entity.replaceAll('_', ' ')} ${id}`),
  );
  return records.length === 0 ? '' : `; it belongs to ${records.slice(0, NAMED).join(', ')}`;
}

async function faultOf(
  files: FileStore,
  { storageKey, kind, size }: Image,
): Promise<Omit<ImageMismatch, 'storageKey'> | undefined> {
  const found = await files.size(originalKey(storageKey));
  if (found === undefined) return { fault: 'its file is missing', isMissingFile: true };
  if (found !== size) return { fault: `its file has ${found} bytes and not ${size}`, isMissingFile: false };
  if (kind === 'document') return undefined;
  const served = await files.size(renditionKey(storageKey, undefined));
  return served === undefined
    ? { fault: 'the file that is served of it is missing', isMissingFile: true }
    : undefined;
}
