import type { paths } from '../../api/generated/packet-service.d.ts';

type Answer =
  paths['/chat/threads/{thread_id}/messages']['get']['responses']['200']['content']['application/json'];

export type Message = Answer['messages'][number];

/** A message that a search has found. */
export interface Found {
  id: string;
  /** what was searched, if it was a text */
  keyword: string | undefined;
}

/** A file stored here that a message refers to. */
export interface MessageFile {
  id: string;
  /** as the sender's device calls it; apps may leave it out */
  name: string | undefined;
  isPicture: boolean;
}

const STORED = /^att_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const PICTURE = /\.(?:jpe?g|png|webp|gif|avif)$/i;

/** The files stored here that a message refers to. */
export function storedFiles({
  attachments = [],
}: {
  attachments?: readonly unknown[] | undefined;
}): MessageFile[] {
  const references = attachments.map(item =>
    typeof item === 'string' ? { id: item } : ((item ?? {}) as { id?: unknown; name?: unknown }),
  ) as { id?: unknown; name?: unknown }[];
  return references
    .filter(
      (reference): reference is { id: string; name?: unknown } =>
        typeof reference.id === 'string' && STORED.test(reference.id),
    )
    .map(({ id, name }) => {
      const fileName = typeof name === 'string' && name.trim() !== '' ? name : undefined;
      return { id, name: fileName, isPicture: PICTURE.test(fileName ?? '') };
    });
}
