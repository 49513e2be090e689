import { Problem } from '../../../../platform/http/problems.ts';
import type { Packet } from '../../../core/packet-format/packet.ts';
import { fold } from '../ngrams/fold.ts';
import { geoidNumber, ngramsOf } from '../ngrams/ngrams.ts';

/** Maximum Unicode code points of a message's text; longer texts are truncated. */
export const MAX_TEXT = 250;

/** A message as stored for lists and search, in addition to its packet. */
export interface ChatMessage {
  /** uuid form */
  threadId: string;
  /** Header.timestamp in UTC with six decimals */
  ts: string;
  /** uuid form */
  packetId: string;
  /** the sender, if known */
  sender: string | undefined;
  text: string;
  folded: string;
  geoid: string;
  geoids: readonly string[] | null;
  /** Header.timestamp if it differs in form from `ts` */
  sent: string | null;
  /** words that must be in the dictionary before the message is written */
  words: readonly string[];
  /** numbers of the text's n-grams, those of `words` first and in their order, and of the GeoIDs */
  ngrams: number[];
}

/** @throws Problem invalid when there is neither text nor attachment */
export function checkText({
  text,
  attachments = [],
}: {
  text: string;
  attachments?: readonly unknown[];
}): void {
  if (text === '' && attachments.length === 0) {
    throw new Problem('message.empty', { field: 'text' });
  }
}

/** The first MAX_TEXT code points of a text. */
export function truncate(text: string): string {
  // Every code point takes one unit or two: a text this short needs no counting.
  if (text.length <= MAX_TEXT) return text;
  let end = 0;
  for (let count = 0; count < MAX_TEXT && end < text.length; count++) {
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

/** A message's text with its search terms. */
export type IndexedText = Pick<ChatMessage, 'text' | 'folded' | 'words' | 'ngrams'>;

/** @param text as kept */
export function indexText(text: string): IndexedText {
  const folded = fold(text);
  const { numbers, words } = ngramsOf(folded);
  return { text, folded, words, ngrams: numbers };
}

/**
 * The row of a chat packet.
 *
 * @param packet with its thread
 * @param message timestamp: Header.timestamp as written; sender: where it is known
 */
export function chatMessage(
  packet: Packet,
  { text, folded, words, ngrams }: IndexedText,
  { timestamp, sender }: { timestamp: string; sender: string | undefined },
): ChatMessage {
  const geoids = [packet.geoid, ...packet.additionalGeoids].filter(geoid => geoid !== '');
  return {
    threadId: packet.threadId as string,
    ts: packet.ts,
    packetId: packet.id,
    sender,
    text,
    folded,
    geoid: packet.geoid,
    geoids: packet.additionalGeoids.length > 0 ? packet.additionalGeoids : null,
    sent: timestamp === displayed(packet.ts) ? null : timestamp,
    ngrams: [...ngrams, ...geoids.map(geoidNumber)],
    words,
  };
}

/**
 * The form in which a time is shown unless its message was sent with another.
 *
 * @param utc ISO 8601 in UTC with six decimals
 */
export function displayed(utc: string): string {
  return `${utc.slice(0, 23)}Z`;
}
