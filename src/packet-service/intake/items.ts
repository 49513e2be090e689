import { isUtf8 } from 'node:buffer';
import type { Pace } from '../../platform/concurrency/pacer.ts';
import { Problem } from '../../platform/http/problems.ts';
import { MAX_PACKET_BYTES } from '../core/packet-format/packet.ts';

/** Maximum items per batch. */
export const MAX_ITEMS = 1000;

const [QUOTE, COMMA, BACKSLASH, NEWLINE] = [0x22, 0x2c, 0x5c, 0x0a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Bytes that are scanned in one turn of the event loop, and the approximate microseconds per byte. */
const BYTES_PER_TURN = 512 * 1024;
const BYTE_COST = 0.04;

/**
 * The texts of a batch's items: the lines of NDJSON, or the elements of a JSON array. They are split before they are
 * parsed, so that a malformed item does not affect the others, and stay bytes until then.
 *
 * @returns parts of `bytes`
 * @throws Problem invalid when the bytes are not UTF-8, the array is broken, or there are no items or too many
 */
export async function splitItems(bytes: Buffer, form: 'lines' | 'array', pace: Pace): Promise<Buffer[]> {
  if (!isUtf8(bytes)) throw new Problem('body.not_utf8');
  const items = form === 'lines' ? await splitLines(bytes, pace) : await splitArray(bytes, pace);
  if (items.length === 0) throw new Problem('intake_batch.empty', { max: MAX_ITEMS });
  return items;
}

function tooMany(): Problem {
  return new Problem('intake_batch.too_many_items', { max: MAX_ITEMS });
}

/** Yields to other requests between two parts of a body. */
function stretches(pace: Pace): (at: number) => Promise<void> | undefined {
  let until = BYTES_PER_TURN;
  return at => {
    if (at < until) return undefined;
    until = at + BYTES_PER_TURN;
    return pace(BYTES_PER_TURN * BYTE_COST);
  };
}

async function splitLines(bytes: Buffer, pace: Pace): Promise<Buffer[]> {
  const lines: Buffer[] = [];
  const rest = stretches(pace);
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    if (!isBlankItem(line)) lines.push(line);
    if (lines.length > MAX_ITEMS) throw tooMany();
    start = end + 1;
    const turn = rest(start);
    if (turn) await turn;
  }
  return lines;
}

/** Cuts an array at the commas of its own level; what is between them is left to the reader of the item. */
async function splitArray(bytes: Buffer, pace: Pace): Promise<Buffer[]> {
  const rest = stretches(pace);
  const opening = await skipSpace(bytes, 0, rest);
  if (bytes[opening] !== OPEN_BRACKET) throw new Problem('intake_batch.not_array');
  const items: Buffer[] = [];
  let at = opening + 1;
  let start = at;
  let depth = 1;
  let inString = false;
  while (at < bytes.length && depth > 0) {
    const end = Math.min(bytes.length, at + BYTES_PER_TURN);
    for (; at < end && depth > 0; at++) {
      const byte = bytes[at];
      // Brackets and commas in strings do not count.
      if (inString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (byte === QUOTE) inString = true;
      else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++;
      else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--;
      if ((byte === COMMA && depth === 1) || depth === 0) {
        items.push(bytes.subarray(start, at));
        if (items.length > MAX_ITEMS) throw tooMany();
        start = at + 1;
      }
    }
    const turn = rest(at);
    if (turn) await turn;
  }
  if (depth !== 0 || (await skipSpace(bytes, start, rest)) < bytes.length) {
    throw new Problem('intake_batch.incomplete_array');
  }
  const [first] = items;
  return items.length === 1 && first && isBlankItem(first) ? [] : items;
}

/** The index of the first byte from an offset that is not white space. */
async function skipSpace(bytes: Buffer, from: number, rest: ReturnType<typeof stretches>): Promise<number> {
  let at = from;
  for (; isSpace(bytes[at]); at++) {
    const turn = rest(at);
    if (turn) await turn;
  }
  return at;
}

/** White space in JSON (RFC 8259 §2). */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
}

/** Whether an item is blank. An oversized one is not checked, and refused later. */
function isBlankItem(item: Buffer): boolean {
  return item.length <= MAX_PACKET_BYTES && item.every(isSpace);
}
