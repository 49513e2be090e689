import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import type { FileStore, Received } from '../../../platform/files/index.ts';
import { sniffContentType } from '../../../platform/http/content-type.ts';
import { cleanName } from '../../../platform/http/disposition.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { isImageType, type MakeRendition, NotDecodable, originalKey, renditionKey } from './renditions.ts';
import { announceImage, type Image, insertImage, type Kind } from './store.ts';

/** Maximum time from an upload's last byte to its row, with a large reserve. */
const UPLOAD_MS = 24 * 3600_000;
/** Maximum characters of a file's name. */
const MAX_NAME = 255;

/**
 * Stores a received file as an image, with its default rendition, or as a document. Returns after the commit.
 *
 * @throws Problem unsupported_media_type for an unsupported format; invalid for an image that cannot be decoded
 */
export async function storeImage(
  { pool, files, makeRendition }: { pool: pg.Pool; files: FileStore; makeRendition: MakeRendition },
  requester: Requester,
  kind: Kind,
  { received, name }: { received: Received; name: string | undefined },
): Promise<Image> {
  const contentType = await sniffContentType(received.head);
  const storageKey = randomUUID();
  const rendition =
    kind === 'image' ? await defaultRendition(makeRendition, received, contentType) : undefined;
  const uploadedAt = new Date();
  // If the process dies before the row is committed, the sweep removes the files.
  await announceImage(pool, storageKey, new Date(uploadedAt.getTime() + UPLOAD_MS));
  if (rendition) await files.put(renditionKey(storageKey, undefined), rendition);
  await files.put(originalKey(storageKey), received);
  return transaction(pool, async database => {
    const image = await insertImage(database, {
      storageKey,
      kind,
      name: cleanName(name, kind, MAX_NAME),
      contentType,
      size: received.size,
      userId: requester.caller.id,
      uploadedAt,
    });
    if (!image) throw new Problem('image.upload_too_slow', {}, { retryAfter: 1 });
    const { id, size } = image;
    const action = kind === 'image' ? 'UPLOAD_IMAGE' : 'UPLOAD_DOCUMENT';
    await audit(database, requester, {
      action,
      entity: kind,
      entityId: id,
      details: { storageKey, contentType, size },
    });
    return image;
  });
}

async function defaultRendition(
  makeRendition: MakeRendition,
  { path }: Received,
  contentType: string,
): Promise<Buffer> {
  if (!isImageType(contentType)) {
    throw new Problem('image.wrong_format');
  }
  try {
    return await makeRendition(path, contentType, undefined);
  } catch (error) {
    if (!(error instanceof NotDecodable)) throw error;
    throw new Problem([error.fault], { cause: error });
  }
}
