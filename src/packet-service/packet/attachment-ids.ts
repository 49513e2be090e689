import { isUlid, ulidToUuid } from './ulid.ts';

/** Attachments that one packet can have, at most. */
const MAX_ATTACHMENTS = 100;
const NONE: readonly string[] = [];

/**
 * The attachment that a reference in a packet names: `att_<ULID>`, as a string or as the `id` of an object.
 *
 * @returns the uuid form of its ULID; undefined when the reference is to something that is not ours
 */
export function attachmentIdOf(reference: unknown): string | undefined {
  const id = typeof reference === 'string' ? reference : (reference as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? readAttachmentId(id) : undefined;
}

/** The uuid form of an `att_<ULID>`; undefined when it is none. */
export function readAttachmentId(id: string): string | undefined {
  const ulid = id.slice(4).toUpperCase();
  return id.startsWith('att_') && isUlid(ulid) ? ulidToUuid(ulid) : undefined;
}

/** The attachments that a Body's list names, each once, uuid form. */
export function attachmentIds(list: unknown): readonly string[] {
  if (!Array.isArray(list) || list.length === 0) return NONE;
  const ids = list.slice(0, MAX_ATTACHMENTS).map(attachmentIdOf);
  return [...new Set(ids.filter(id => id !== undefined))];
}
