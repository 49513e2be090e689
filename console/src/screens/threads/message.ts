import type { paths } from '../../api/generated/packet-service.d.ts';

type Answer =
  paths['/chat/threads/{thread_id}/messages']['get']['responses']['200']['content']['application/json'];

export type Message = Answer['messages'][number];

/** The files stored here that a message refers to, by their ids. */
export function storedFiles({
  attachments = [],
}: {
  attachments?: readonly unknown[] | undefined;
}): string[] {
  const names = attachments.map(item =>
    typeof item === 'string' ? item : (item as { id?: unknown } | null)?.id,
  );
  return names.filter(
    (name): name is string => typeof name === 'string' && /^att_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(name),
  );
}
