import type pg from 'pg';
import type { FileStore } from '../../../platform/files/index.ts';
import { findReferenced } from '../../core/packets/attachment-store.ts';
import { findUnreferencedBy, findUploadsBy } from './personal-store.ts';
import { deleteAttachments, markReferenced } from './store.ts';
import { piecesOf } from './sweep.ts';
import { deleteUpload } from './upload-store.ts';

const BATCH = 500;
const FIRST = '00000000-0000-0000-0000-000000000000';

/** Removes a user's orphans and unfinished uploads. The hourly sweep removes the contents. */
export async function eraseOwnFiles(pool: pg.Pool, files: FileStore, userId: string): Promise<void> {
  for (let after = FIRST; ; ) {
    const ids = await findUnreferencedBy(pool, userId, { after, limit: BATCH });
    const referenced = new Set(await findReferenced(pool, ids));
    await markReferenced(pool, [...referenced]);
    await deleteAttachments(
      pool,
      ids.filter(id => !referenced.has(id)),
      new Date(),
    );
    if (ids.length < BATCH) break;
    after = ids.at(-1) as string;
  }
  for (;;) {
    const uploads = await findUploadsBy(pool, userId, BATCH);
    for (const uploadId of uploads) {
      await files.removeAll(piecesOf(uploadId));
      await deleteUpload(pool, uploadId);
    }
    if (uploads.length < BATCH) break;
  }
}
