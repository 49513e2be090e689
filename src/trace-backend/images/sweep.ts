import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { FileStore } from '../../platform/files/index.ts';
import { hourly } from '../../platform/jobs/hourly.ts';
import { transaction } from '../../platform/postgres/database.ts';
import { audit, PROGRAM } from '../audit/audit.ts';
import { deleteLeftover, expireImages, takeLeftover } from './store.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Days after which an image or document that no record carries is removed. */
const EXPIRE_DAYS = 30;
/** How long the content of what has expired stays: longer than anybody may still be reading it, or making a size. */
const GRACE_MS = DAY_MS;
/** Images in one transaction, and in one sweep; what is left over waits an hour. */
const BATCH = 100;
const MOST = 10_000;

/** What a sweep works on. */
export interface Sweeping {
  pool: pg.Pool;
  files: FileStore;
}

/** Sweeps every hour; returns a function that stops it. */
export function sweepHourly(sweeping: Sweeping, logger: FastifyBaseLogger): () => void {
  return hourly('expired images could not be removed', logger, () => sweep(sweeping, new Date()));
}

/** Removes images and documents that no record has carried for 30 days, and content that belongs to none. */
export async function sweep({ pool, files }: Sweeping, now: Date): Promise<void> {
  await files.removeForgotten(now);
  for (let count = 0; count < MOST; count += BATCH) if (!(await expire(pool, now))) break;
  for (let count = 0; count < MOST; count++) if (!(await removeLeftover(pool, files, now))) break;
}

async function expire(pool: pg.Pool, now: Date): Promise<boolean> {
  return transaction(pool, async database => {
    const before = new Date(now.getTime() - EXPIRE_DAYS * DAY_MS);
    const removeAt = new Date(now.getTime() + GRACE_MS);
    const expired = await expireImages(database, { before, removeAt, limit: BATCH });
    for (const { id, kind, storageKey } of expired) {
      const action = kind === 'image' ? 'EXPIRE_IMAGE' : 'EXPIRE_DOCUMENT';
      await audit(database, PROGRAM, { action, entity: kind, entityId: id, details: { storageKey } });
    }
    return expired.length > 0;
  });
}

async function removeLeftover(pool: pg.Pool, files: FileStore, now: Date): Promise<boolean> {
  return transaction(pool, async database => {
    const storageKey = await takeLeftover(database, now);
    if (storageKey === undefined) return false;
    // When the commit fails the files are gone and the row is not: the next sweep removes nothing, and the row.
    await files.removeAll(`images/${storageKey}`);
    await deleteLeftover(database, storageKey);
    return true;
  });
}
