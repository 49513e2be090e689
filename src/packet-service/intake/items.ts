import { isUtf8 } from 'node:buffer';
import { Problem } from '../../platform/http/problems.ts';

/** Items of one batch, at most. */
export const MAX_ITEMS = 1000;

const [QUOTE, COMMA, BACKSLASH, NEWLINE] = [0x22, 0x2c, 0x5c, 0x0a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The texts of a batch's items: the lines of NDJSON, or the elements of a JSON array. They are taken apart before
 * they are read, so that an item which cannot be read harms no other, and stay bytes until their turn comes.
 *
 * @returns parts of `bytes`
 * @throws Problem invalid when the bytes are not UTF-8, the array is broken, or there are no items or too many
 */
export function splitItems(bytes: Buffer, form: 'lines' | 'array'): Buffer[] {
  if (!isUtf8(bytes)) throw new Problem('invalid', 'the body is not valid UTF-8');
  const items = form === 'lines' ? splitLines(bytes) : splitArray(bytes);
  if (items.length === 0 || items.length > MAX_ITEMS) {
    throw new Problem('invalid', `the body must have 1 to ${MAX_ITEMS} items, it has ${items.length}`);
  }
  return items;
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    if (!isBlank(bytes, start, end)) lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

/** Cuts an array at the commas of its own level; what stands between them is left to whoever reads the item. */
function splitArray(bytes: Buffer): Buffer[] {
  let start = 0;
  while (isSpace(bytes[start])) start++;
  if (bytes[start] !== OPEN_BRACKET) throw new Problem('invalid', 'the body must be an array');
  start++;
  const items: Buffer[] = [];
  let depth = 1;
  for (let at = start; at < bytes.length && depth > 0; at++) {
    const byte = bytes[at];
    // Strings are stepped over whole: a bracket or comma in one means nothing.
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++;
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--;
    if ((byte === COMMA && depth === 1) || depth === 0) {
      items.push(bytes.subarray(start, at));
      start = at + 1;
    }
  }
  if (depth !== 0 || !isBlank(bytes, start, bytes.length)) {
    throw new Problem('invalid', 'the body is not one whole JSON array');
  }
  const [first] = items;
  return items.length === 1 && first && isBlank(first, 0, first.length) ? [] : items;
}

/** Where the string that begins at `start` has its closing quote; the end of the bytes when it has none. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
  return at;
}

/** What JSON takes for white space (RFC 8259 §2). */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isSpace(bytes[at])) return false;
  return true;
}
