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
      throw new Problem('upload.malformed_metadata');
    }
    values.set(key, Buffer.from(value, 'base64').toString('utf8'));
  }
  for (const [key, value] of values) {
    if (!value.includes('\0')) continue;
    throw new Problem('upload.null_in_metadata', { key: key.slice(0, 64) });
  }
  const id = values.get('id');
  return {
    attachmentId: id === undefined ? undefined : requireAttachmentId(id, 'upload.malformed_attachment_id'),
    name: values.get('filename') ?? values.get('name'),
  };
}

/**
 * @param malformed why an id of another form is refused
 * @returns the uuid form
 * @throws Problem invalid
 */
export function requireAttachmentId(
  id: string,
  malformed: 'attachment.malformed_id' | 'upload.malformed_attachment_id',
): string {
  const attachmentId = readAttachmentId(id);
  if (attachmentId === undefined) throw new Problem(malformed, { field: 'id' });
  return attachmentId;
}
