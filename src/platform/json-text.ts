import type { Pace } from './concurrency/pacer.ts';

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [COMMA, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x2c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * What JSON.parse should return. The JSON.parse of Node 24 and 26 may take an escaped key for another one that it has
 * met before, such as `"\n"` for `"\\"` (github.com/nodejs/node/issues/63785), so texts with escaped keys, which are
 * rare, are read here.
 *
 * @throws SyntaxError of JSON.parse
 */
export function parseJsonText(text: string): unknown {
  return hasEscapedKey(text) ? parseEscapedKeys(text) : JSON.parse(text);
}

/** Like `parseJsonText`, for a text with escaped keys. */
export function parseEscapedKeys(text: string): unknown {
  JSON.parse(text);
  const reading = readValid(text);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}

/** Members and elements that are read in one turn. */
const AT_ONCE = 2000;
/** Microseconds that one takes to be read, about. */
const COST = 2;

/** Like `parseEscapedKeys`, in turns of the event loop, for large texts. */
export async function parseEscapedKeysInTurns(text: string, pace: Pace): Promise<unknown> {
  JSON.parse(text);
  const reading = readValid(text);
  for (;;) {
    await pace(AT_ONCE * COST);
    const { done, value } = reading.next();
    if (done) return value;
  }
}

function hasEscapedKey(text: string): boolean {
  if (!text.includes('\\')) return false;
  let isEscaped = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      isEscaped = hasEscape(text, at, end);
      at = end;
    } else if (char === COLON && isEscaped) return true;
  }
  return false;
}

/** Reads a text that is valid JSON; yields after each AT_ONCE members and elements. */
function* readValid(text: string): Generator<undefined, unknown, void> {
  let at = 0;
  let count = 0;

  /** The next character that is no white space. */
  function peek(): number {
    while (text.charCodeAt(at) <= 0x20) at++;
    return text.charCodeAt(at);
  }

  function readString(): string {
    const start = at;
    const end = endOfString(text, start);
    at = end + 1;
    return hasEscape(text, start, end) ? JSON.parse(text.slice(start, at)) : text.slice(start + 1, end);
  }

  /** A number, true, false or null. */
  function readWord(): unknown {
    const start = at;
    while (at < text.length && !endsWord(text.charCodeAt(at))) at++;
    return JSON.parse(text.slice(start, at));
  }

  function* readObject(): Generator<undefined, object, void> {
    const object = {};
    for (at++; peek() !== CLOSE_BRACE; ) {
      if (text.charCodeAt(at) === COMMA) {
        at++;
        peek();
      }
      const key = readString();
      peek();
      at++;
      const value = yield* readValue();
      // An assignment to __proto__ would not make a member.
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    }
    at++;
    return object;
  }

  function* readArray(): Generator<undefined, unknown[], void> {
    const array: unknown[] = [];
    for (at++; peek() !== CLOSE_BRACKET; ) {
      if (text.charCodeAt(at) === COMMA) at++;
      array.push(yield* readValue());
    }
    at++;
    return array;
  }

  function* readValue(): Generator<undefined, unknown, void> {
    if (++count % AT_ONCE === 0) yield;
    const first = peek();
    if (first === OPEN_BRACE) return yield* readObject();
    if (first === OPEN_BRACKET) return yield* readArray();
    return first === QUOTE ? readString() : readWord();
  }

  return yield* readValue();
}

/** Whether a number, true, false or null ends before a character. */
function endsWord(char: number): boolean {
  return char === COMMA || char === CLOSE_BRACE || char === CLOSE_BRACKET || char <= 0x20;
}

/** The offset of the quote that ends the string whose first quote is at `start`; the end of the text if it has none. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at;
    if (char === BACKSLASH) at++;
  }
  return text.length;
}

function hasEscape(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === BACKSLASH) return true;
  return false;
}
