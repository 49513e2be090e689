import pLimit from 'p-limit';
import type { Database } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { findUses } from './references-store.ts';
import { originalKey, renditionKey } from './renditions.ts';
import { findImages, type Image, listImages } from './store.ts';

/** Images per statement. */
const BATCH = 500;
/** Maximum concurrent requests to the file store. */
const CONCURRENCY = 8;
/** Maximum records named per missing file. */
const MAX_NAMED = 5;

/** A fault of a stored image or document. */
interface ImageMismatch {
  storageKey: string;
  fault: string;
  /** whether the fault is that a file is not in the store */
  isMissingFile: boolean;
}

/**
 * Verifies that images and documents have their files. Because their rows have no hash, it compares the size of the
 * original, and checks that the served rendition exists.
 *
 * @returns the number of images and documents
 */
export async function verifyImages(
  database: Database,
  files: FileStore,
  onMismatch: (mismatch: ImageMismatch) => void,
): Promise<number> {
  const limit = pLimit(CONCURRENCY);
  let count = 0;
  let last = 0;
  for (;;) {
    const images = await listImages(database, last, BATCH);
    const mismatches = await limit.map(images, async image => {
      const mismatch = await faultOf(files, image);
      if (mismatch === undefined) return [];
      const fault = `${mismatch.fault}${await usesOf(database, image.storageKey)}`;
      // It may have expired since its row was read.
      const present = await findImages(database, [image.storageKey]);
      return present.map(({ storageKey }) => ({ ...mismatch, storageKey, fault }));
    });
    mismatches.flat().forEach(onMismatch);
    count += images.length;
    if (images.length < BATCH) return count;
    last = images.at(-1)?.id as number;
  }
}

/** Names the records that refer to an image or document. */
async function usesOf(database: Database, storageKey: string): Promise<string> {
  const uses = await findUses(database, storageKey);
  const records = uses.flatMap(({ entity, entityIds }) =>
    entityIds.map(id => `${entity.replaceAll('_', ' ')} ${id}`),
  );
  return records.length === 0 ? '' : `; it belongs to ${records.slice(0, MAX_NAMED).join(', ')}`;
}

async function faultOf(
  files: FileStore,
  { storageKey, kind, size }: Image,
): Promise<Omit<ImageMismatch, 'storageKey'> | undefined> {
  const storedSize = await files.size(originalKey(storageKey));
  if (storedSize === undefined) return { fault: 'its file is missing', isMissingFile: true };
  if (storedSize !== size)
    return { fault: `its file has ${storedSize} bytes and not ${size}`, isMissingFile: false };
  if (kind === 'document') return undefined;
  const servedSize = await files.size(renditionKey(storageKey, undefined));
  return servedSize === undefined
    ? { fault: 'the file that is served of it is missing', isMissingFile: true }
    : undefined;
}
