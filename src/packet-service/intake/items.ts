import { isUtf8 } from 'node:buffer';
import { Problem } from '../../platform/http/problems.ts';

/** Items of one batch, at most. */
export const MAX_ITEMS = 1000;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The texts of a batch's items: the lines of NDJSON, or the elements of a JSON array. They are taken apart before
 * they are read, so that an item which cannot be read harms no other.
 *
 * @throws Problem invalid when the bytes are not UTF-8, the array is broken, or there are no items or too many
 */
export function splitItems(bytes: Buffer, form: 'lines' | 'array'): string[] {
  if (!isUtf8(bytes)) throw new Problem('invalid', 'the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  const items = form === 'lines' ? text.split('\n').filter(line => line.trim() !== '') : splitArray(text);
  if (items.length === 0 || items.length > MAX_ITEMS) {
    throw new Problem('invalid', `the body must have 1 to ${MAX_ITEMS} items, it has ${items.length}`);
  }
  return items;
}

/** Cuts an array at the commas of its own level; what stands between them is left to whoever reads the item. */
function splitArray(text: string): string[] {
  const outer = text.trim();
  if (!outer.startsWith('[')) throw new Problem('invalid', 'the body must be an array');
  const items: string[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 0; at < outer.length; at++) {
    const char = outer.charCodeAt(at);
    // Strings are stepped over whole: a bracket or comma in one means nothing.
    if (char === QUOTE) at = endOfString(outer, at);
    else if (char === OPEN_BRACKET || char === OPEN_BRACE) depth++;
    else if (char === CLOSE_BRACKET || char === CLOSE_BRACE) depth--;
    if ((char === COMMA && depth === 1) || depth === 0) {
      items.push(outer.slice(start, at));
      start = at + 1;
    }
    if (depth === 0) break;
  }
  if (depth !== 0 || start !== outer.length)
    throw new Problem('invalid', 'the body is not one whole JSON array');
  return items.length === 1 && items[0]?.trim() === '' ? [] : items;
}

/** Where the string that begins at `from` has its closing quote; the end of the text when it has none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    // A backslash escapes the next one: an even number of them leaves the quote alone.
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}
