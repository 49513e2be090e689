import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { hourly } from '../../../platform/jobs/hourly.ts';
import { audit, PROGRAM } from '../../base/audit/audit.ts';
import { deleteLeftover, expireImages, takeLeftover } from './store.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Days after which an orphaned image or document is removed. */
const EXPIRE_DAYS = 30;
/** How long expired content is kept: longer than any reading or making of a rendition takes. */
const GRACE_MS = DAY_MS;
/** Maximum images per transaction, and per sweep; the rest waits for the next sweep. */
const BATCH = 100;
const MAX_PER_SWEEP = 10_000;

interface SweepContext {
  pool: pg.Pool;
  files: FileStore;
}

/** Sweeps every hour; returns a function that stops it. */
export function sweepHourly(context: SweepContext, logger: FastifyBaseLogger): () => void {
  return hourly('expired images could not be removed', logger, () => sweep(context, new Date()));
}

/** Removes images and documents that no record has referred to for 30 days, and orphaned content. */
export async function sweep({ pool, files }: SweepContext, now: Date): Promise<void> {
  await files.removeForgotten(now);
  for (let count = 0; count < MAX_PER_SWEEP; count += BATCH) if (!(await expire(pool, now))) break;
  for (let count = 0; count < MAX_PER_SWEEP; count++) if (!(await removeLeftover(pool, files, now))) break;
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
    // If the commit fails, the files are gone but the row is not: the next sweep removes the row.
    await files.removeAll(`images/${storageKey}`);
    await deleteLeftover(database, storageKey);
    return true;
  });
}
