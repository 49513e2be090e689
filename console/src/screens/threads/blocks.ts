/** Messages of a block: what is far from the screen is left out of the page block by block. */
const BLOCK = 100;

/** Neighbouring messages. */
export interface Block<Message> {
  /** does not change while the block is in the list */
  key: string;
  messages: Message[];
}

interface HasId {
  packet_id: string;
}

/** Puts earlier messages, oldest first, before the blocks. */
export function withEarlier<Message extends HasId>(
  blocks: readonly Block<Message>[],
  earlier: readonly Message[],
): Block<Message>[] {
  const made: Block<Message>[] = [];
  // The last block is full, and the first one has the rest.
  for (let end = earlier.length; end > 0; end -= BLOCK)
    made.unshift(blockOf(earlier.slice(Math.max(0, end - BLOCK), end)));
  return [...made, ...blocks];
}

/** Puts later messages, oldest first, after the blocks; those that are there already are left out. */
export function withLater<Message extends HasId>(
  blocks: readonly Block<Message>[],
  later: readonly Message[],
): Block<Message>[] {
  const recent = new Set(
    blocks.slice(-2).flatMap(({ messages }) => messages.map(({ packet_id }) => packet_id)),
  );
  const fresh = later.filter(({ packet_id }) => !recent.has(packet_id));
  if (fresh.length === 0) return [...blocks];
  const last = blocks.at(-1);
  const space = last === undefined ? 0 : Math.max(0, BLOCK - last.messages.length);
  const filled =
    last && space > 0 ? [{ ...last, messages: [...last.messages, ...fresh.slice(0, space)] }] : [];
  const kept = filled.length > 0 ? blocks.slice(0, -1) : blocks;
  const made: Block<Message>[] = [];
  for (let from = space; from < fresh.length; from += BLOCK)
    made.push(blockOf(fresh.slice(from, from + BLOCK)));
  return [...kept, ...filled, ...made];
}

function blockOf<Message extends HasId>(messages: Message[]): Block<Message> {
  return { key: (messages[0] as Message).packet_id, messages };
}
