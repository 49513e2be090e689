import { Problem } from '../../../platform/http/problems.ts';
import { readAttachmentId } from '../../core/packet-format/attachment-ids.ts';

/** The version of the protocol, https://tus.io/protocols/resumable-upload, and what of it is served beyond its core. */
export const TUS_VERSION = '1.0.0';
export const TUS_EXTENSIONS = 'creation,creation-defer-length,expiration,termination';
export const TUS_BODY = 'application/offset+octet-stream';

/** The metadata of a file that we understand. */
export interface FileMetadata {
  /** uuid form of the future attachment's id */
  attachmentId: string | undefined;
  name: string | undefined;
}

/**
 * Reads Upload-Metadata: pairs of a key and a base64 value, with a space between them, separated by commas. `id` and
 * `filename` (or `name`) are understood; the rest is the client's own.
 *
 * @throws Problem invalid
 */
export function readMetadata(header: string): FileMetadata {
  const values = new Map<string, string>();
  for (const pair of header.split(',').filter(text => text.trim() !== '')) {
    const [, key, value = ''] = /^\s*([^\s,]+)(?: ([A-Za-z0-9+/]*={0,2}))?\s*$/.exec(pair) ?? [];
    if (key === undefined || values.has(key)) {
      throw new Problem(
        'invalid',
        'Upload-Metadata must be pairs of a key and a base64 value, each key once',
      );
    }
    values.set(key, Buffer.from(value, 'base64').toString('utf8'));
  }
  for (const [key, value] of values) {
    if (!value.includes('\0')) continue;
    throw new Problem('invalid', `${key.slice(0, 64)} in Upload-Metadata must not hold the character U+0000`);
  }
  const id = values.get('id');
  return {
    attachmentId: id === undefined ? undefined : requireAttachmentId(id, 'id in Upload-Metadata'),
    name: values.get('filename') ?? values.get('name'),
  };
}

/**
 * @param field what the id was sent as, for the error
 * @returns the uuid form
 * @throws Problem invalid
 */
export function requireAttachmentId(id: string, field: string): string {
  const attachmentId = readAttachmentId(id);
  if (attachmentId === undefined) throw new Problem('invalid', `${field} must be att_ followed by a ULID`);
  return attachmentId;
}
