import { parseUlid, uuidToUlid } from './ulid.ts';

/** Maximum attachments that one packet can have. */
const MAX_ATTACHMENTS = 100;
const NONE: readonly AttachmentReference[] = [];
const SHA256 = /^[0-9a-f]{64}$/i;

/** An attachment that a packet refers to. */
export interface AttachmentReference {
  /** uuid form */
  id: string;
  /** the SHA-256 given in the reference, lowercase hex; null if none */
  sha256: string | null;
}

/**
 * The attachment of a reference in a packet: `att_<ULID>`, as a string or as the `id` of an object.
 *
 * @returns the uuid form of its ULID; undefined if the reference is not to an attachment
 */
export function attachmentIdOf(reference: unknown): string | undefined {
  const id = typeof reference === 'string' ? reference : (reference as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? readAttachmentId(id) : undefined;
}

/** The uuid form of an `att_<ULID>`; undefined when it is none. */
export function readAttachmentId(id: string): string | undefined {
  return id.startsWith('att_') ? parseUlid(id.slice(4)) : undefined;
}

/** The `att_<ULID>` of an attachment id in the uuid form. */
export function attachmentIdText(attachmentId: string): string {
  return `att_${uuidToUlid(attachmentId)}`;
}

/** The attachments in a Body's list, each once. */
export function attachmentReferences(list: unknown): readonly AttachmentReference[] {
  if (!Array.isArray(list) || list.length === 0) return NONE;
  const references = new Map<string, AttachmentReference>();
  for (const reference of list.slice(0, MAX_ATTACHMENTS)) {
    const id = attachmentIdOf(reference);
    if (id === undefined) continue;
    const sha256 = references.get(id)?.sha256 ?? sha256Of(reference);
    references.set(id, { id, sha256 });
  }
  return [...references.values()];
}

function sha256Of(reference: unknown): string | null {
  const { sha256 } = Object(reference) as { sha256?: unknown };
  return typeof sha256 === 'string' && SHA256.test(sha256) ? sha256.toLowerCase() : null;
}
