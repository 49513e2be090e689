import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { chatMessage, checkText, indexText, truncate } from '../collaboration/chat/messages/message.ts';
import type { ChatMessageBody } from '../collaboration/chat/schemas.ts';
import type { AddWords } from '../collaboration/chat/search/dictionary.ts';
import type { KnownThread } from '../collaboration/chat/threads/thread-check.ts';
import type { GeoidResolver } from '../core/geoids/resolver.ts';
import { packetLanguage } from '../core/packet-format/language.ts';
import { makePacket } from '../core/packet-format/packet.ts';
import { newUlid } from '../core/packet-format/ulid.ts';
import type { MakePacket } from './packet-write.ts';
import { encryption, headerFields } from './scouting.ts';

/** The context of a message from its request. */
export interface MessageOrigin {
  /** the sender takes part in it */
  thread: KnownThread;
  sender: string | undefined;
  /** the user of the token */
  author: string | undefined;
  contentLanguage: string | undefined;
}

/**
 * Prepares the packet of a chat message, and its row for lists and search. The returned function makes the packet
 * with the current id and time. Call it in the tick in which the message enters the writer: a client that pages by
 * time would miss a message that became visible after its time.
 *
 * The Body keeps everything that was sent; its text is the stored text, its from_user the sender, also if taken from
 * the token. The timestamp is the time of receipt, because the clocks of phones would put messages out of order.
 *
 * @throws Problem invalid when the text is empty and there is no attachment
 */
export async function chatMessageMaker(
  { resolver, addWords }: { resolver: GeoidResolver; addWords: AddWords },
  sent: Static<typeof ChatMessageBody>,
  { thread, sender, author, contentLanguage }: MessageOrigin,
): Promise<MakePacket> {
  checkText(sent);
  const text = truncate(sent.text);
  const enc = encryption(sent);
  const indexed = indexText(text);
  const [{ geoid, additionalGeoids }] = await Promise.all([
    resolveLocation(resolver, sent),
    addWords(indexed),
  ]);
  const parts = {
    geoid,
    additionalGeoids,
    type: 'chat_message',
    headerFields: headerFields(sent),
    body: {
      ...sent,
      text,
      attachments: sent.attachments ?? [],
      ...(sender !== undefined && { from_user: sender }),
    },
    lang: packetLanguage((sent as { lang?: unknown }).lang, contentLanguage),
    enc,
    ...(text !== sent.text && { tags: ['truncated'] }),
    point: sent.capture_point ? { lat: sent.capture_point.lat, lon: sent.capture_point.lon } : null,
    ...thread,
    author,
  };
  return () => {
    const text = new Date().toISOString();
    const timestamp = { text, utc: `${text.slice(0, -1)}000Z` };
    const packet = makePacket({ ...parts, id: newUlid(), timestamp });
    return { packet, chat: chatMessage(packet, indexed, { timestamp: text, sender }) };
  };
}

/**
 * The GeoID of a message: that of its capture point, else the first in `geoids`, else none. A failed resolution does
 * not refuse the message: chat must work without GPS and registry.
 */
async function resolveLocation(
  resolver: GeoidResolver,
  { capture_point, geoids = [] }: Static<typeof ChatMessageBody>,
): Promise<{ geoid: string; additionalGeoids: string[] }> {
  const named = geoids.filter(geoid => geoid !== '');
  const resolved = capture_point ? await resolvePoint(resolver, capture_point) : [];
  const [geoid = '', ...others] = new Set([...resolved, ...named]);
  return { geoid, additionalGeoids: others };
}

async function resolvePoint(
  resolver: GeoidResolver,
  { lat, lon }: { lat: number; lon: number },
): Promise<string[]> {
  try {
    const { geoid, additionalGeoids } = await resolver.resolve({ lat, lon }, 'capture_point');
    return [geoid, ...additionalGeoids];
  } catch (error) {
    if (error instanceof Problem) return [];
    throw error;
  }
}
