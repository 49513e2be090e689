import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { hourly } from '../../../platform/jobs/hourly.ts';
import { findReferenced } from '../../core/packets/attachment-store.ts';
import {
  deleteAttachments,
  deleteContent,
  findUnreferenced,
  markReferenced,
  takeUnusedContent,
  useContent,
} from './store.ts';
import { contentKey } from './store-attachment.ts';
import { deleteUpload, findExpiredUploads } from './upload-store.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Rows per statement. */
const BATCH = 500;
/** Days in which an upload must be completed, counted from its beginning. */
export const UPLOAD_DAYS = 7;

/** The start of the oldest upload that can still be continued. */
export function oldestUpload(): Date {
  return new Date(Date.now() - UPLOAD_DAYS * DAY_MS);
}

/** How long an unused content is kept: longer than any upload of the same content can take. */
const CONTENT_GRACE_MS = DAY_MS;

/** Dependencies of a sweep. */
export interface Sweeping {
  pool: pg.Pool;
  files: FileStore;
  /** days after which an orphan is removed */
  expireDays: number;
}

/** Sweeps every hour; returns a function that stops it. */
export function sweepHourly(sweeping: Sweeping, logger: FastifyBaseLogger): () => void {
  return hourly('expired attachments could not be removed', logger, () => sweep(sweeping, new Date()));
}

/** Removes uploads that were never completed, orphans, and unused contents. */
export async function sweep({ pool, files, expireDays }: Sweeping, now: Date): Promise<void> {
  await files.removeForgotten(now);
  await removeUploads(pool, files, new Date(now.getTime() - UPLOAD_DAYS * DAY_MS));
  await removeAttachments(pool, new Date(now.getTime() - expireDays * DAY_MS), now);
  await removeContents(pool, files, new Date(now.getTime() - CONTENT_GRACE_MS));
}

async function removeUploads(pool: pg.Pool, files: FileStore, before: Date): Promise<void> {
  for (;;) {
    const expired = await findExpiredUploads(pool, before, BATCH);
    if (expired.length === 0) return;
    for (const uploadId of expired) {
      await files.removeAll(piecesOf(uploadId));
      await deleteUpload(pool, uploadId);
    }
  }
}

/** Prefix of the keys of an upload's pieces. */
export function piecesOf(uploadId: string): string {
  return `uploads/${uploadId}`;
}

async function removeAttachments(pool: pg.Pool, before: Date, now: Date): Promise<void> {
  for (;;) {
    const old = await findUnreferenced(pool, before, BATCH);
    if (old.length === 0) return;
    const referenced = new Set(await findReferenced(pool, old));
    await markReferenced(pool, [...referenced]);
    await deleteAttachments(
      pool,
      old.filter(id => !referenced.has(id)),
      now,
    );
  }
}

async function removeContents(pool: pg.Pool, files: FileStore, before: Date): Promise<void> {
  const removeOne = () =>
    transaction(pool, async database => {
      const content = await takeUnusedContent(database, before);
      if (!content) return false;
      if (content.used) {
        await useContent(database, content.sha256);
      } else {
        // If the commit fails, the file is gone but its row is not: the next upload checks for the file.
        await files.remove(contentKey(content.sha256));
        await deleteContent(database, content.sha256);
      }
      return true;
    });
  while (await removeOne());
}
