import type { Pace } from '../concurrency/pacer.ts';
import { endOfString, parseEscapedKeys, parseEscapedKeysInTurns } from '../json-text.ts';
import { Problem } from './problems.ts';
import { type Fault, fault } from './reasons/catalogue.ts';

/** Maximum arrays and objects inside one another. Everything behind the parser may therefore recurse. */
export const MAX_JSON_DEPTH = 64;
/** Maximum arrays and objects per text. */
export const MAX_CONTAINERS = 20_000;
/** Maximum values per text: strings (keys are not counted), numbers, true, false, null, arrays and objects. */
export const MAX_VALUES = 262_144;

const [QUOTE, BACKSLASH, COLON, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x3a, 0x2d, 0x30, 0x39];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const [PLUS, POINT, COMMA, LOWER_A, LOWER_F, LOWER_U] = [0x2b, 0x2e, 0x2c, 0x61, 0x66, 0x75];

/** Why a text cannot be read, and where. */
interface Obstacle {
  at: number;
  /** its fault at a path */
  fault: (path: string) => Fault;
}

/**
 * Reads a JSON text without losing any of it: numbers that a double cannot hold are refused, not rounded; strings
 * that PostgreSQL or UTF-8 cannot hold are refused, not replaced. Of duplicate keys the last wins.
 *
 * The text is checked in one pass before it is parsed, so that a text which would be costly is never parsed.
 *
 * @param text from valid UTF-8
 * @throws Problem unreadable, naming the path of the offending value; also when the text has more than MAX_CONTAINERS
 *   arrays and objects, more than MAX_VALUES values, or nests deeper than MAX_JSON_DEPTH
 */
export function readJson(text: string): unknown {
  const check = beginCheck();
  checkJson(text, check);
  try {
    return check.hasEscapedKey ? parseEscapedKeys(text) : JSON.parse(text);
  } catch (error) {
    throw asProblem(error);
  }
}

/** Characters from which on a text is read in several turns of the event loop. */
export const LARGE_TEXT = 64 * 1024;
/** Characters that are checked in one turn. */
const CHECKED_AT_ONCE = 256 * 1024;
/** Microseconds that a character takes to be checked and to be parsed, about. */
const CHECKING_COST = 0.06;
const PARSING_COST = 0.15;

/**
 * Like the function above, in turns of the event loop, for large texts.
 *
 * @returns at the beginning of a turn
 */
export async function readJsonInTurns(text: string, pace: Pace): Promise<unknown> {
  const check = beginCheck();
  while (check.at < text.length) {
    const end = Math.min(check.at + CHECKED_AT_ONCE, text.length);
    await pace((end - check.at) * CHECKING_COST);
    checkJson(text, check, end);
  }
  await pace(text.length * PARSING_COST);
  try {
    const value = check.hasEscapedKey ? await parseEscapedKeysInTurns(text, pace) : JSON.parse(text);
    await pace(text.length * CHECKING_COST);
    return value;
  } catch (error) {
    throw asProblem(error);
  }
}

/** How far a text has been checked. */
interface Check {
  at: number;
  containers: number;
  values: number;
  depth: number;
  /** whether the last string has an escape, and whether a key has one */
  isEscaped: boolean;
  hasEscapedKey: boolean;
}

function beginCheck(): Check {
  return { at: 0, containers: 0, values: 0, depth: 0, isEscaped: false, hasEscapedKey: false };
}

/** Checks a text on from where the check is, to `end` or to the end of the string or number there. */
function checkJson(text: string, check: Check, end = text.length): void {
  const obstacle = findObstacle(text, check, end);
  if (obstacle) throw new Problem([obstacle.fault(pathAt(text, obstacle.at))]);
}

function asProblem(error: unknown): unknown {
  if (!(error instanceof SyntaxError)) return error;
  return new Problem('body.not_json', { message: error.message.slice(0, 200) });
}

/**
 * The first thing in a text that is not allowed although it is JSON. Of a text that is not JSON everything up to the
 * error is counted right, and parsing stops there.
 */
function findObstacle(text: string, check: Check, until: number): Obstacle | undefined {
  let { at, containers, values, depth, isEscaped } = check;
  for (; at < until; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      values++;
      const start = at;
      // Not indexOf: V8 may compute it for every character.
      for (at++; at < text.length; at++) {
        const inside = text.charCodeAt(at);
        if (inside === QUOTE || inside === BACKSLASH) break;
      }
      isEscaped = text.charCodeAt(at) === BACKSLASH;
      if (isEscaped) {
        const { end, reason } = readEscapes(text, at);
        if (reason) return { at: start, fault: path => fault(reason, { path }) };
        at = end;
      }
    } else if (char === COLON) {
      // The string before it was a key.
      values--;
      if (isEscaped) check.hasEscapedKey = true;
    } else if (char === OPEN_BRACKET || char === OPEN_BRACE) {
      values++;
      containers++;
      depth++;
      if (depth > MAX_JSON_DEPTH) {
        return { at, fault: path => fault('body.too_deep', { path, max: MAX_JSON_DEPTH }) };
      }
    } else if (char === CLOSE_BRACKET || char === CLOSE_BRACE) {
      depth--;
    } else if (char === MINUS || (char >= ZERO && char <= NINE)) {
      values++;
      const end = endOfNumber(text, at);
      const lost = lostNumber(text, at, end);
      if (lost) return { at, fault: path => fault('body.inexact_number', { path, number: lost }) };
      at = end - 1;
    } else if (char >= LOWER_A) {
      // true, false or null; brackets and braces have been looked for before.
      values++;
      at += char === LOWER_F ? 4 : 3;
    }
    if (values > MAX_VALUES) {
      return { at, fault: path => fault('body.too_many_values', { path, max: MAX_VALUES }) };
    }
    if (containers > MAX_CONTAINERS) {
      return { at, fault: path => fault('body.too_many_containers', { path, max: MAX_CONTAINERS }) };
    }
  }
  check.at = at;
  check.containers = containers;
  check.values = values;
  check.depth = depth;
  check.isEscaped = isEscaped;
  return undefined;
}

/** The end of the characters that a number can have. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end++) {
    const char = text.charCodeAt(end);
    const isPart =
      (char >= ZERO && char <= NINE) || char === MINUS || char === PLUS || char === POINT || isExponent(char);
    if (!isPart) break;
  }
  return end;
}

/**
 * The beginning of a number literal that does not survive as a double: one that overflows, or an integer that loses
 * digits, also if zeros after a point follow it. An integer that is written as ECMAScript writes its double survives (62149497467408090 for
 * 62149497467408096): canonical JSON gives such a number back like this, and what we gave must be taken again.
 */
function lostNumber(text: string, start: number, end: number): string | undefined {
  // Nothing shorter than 1e309 overflows, no integer of fewer than 16 digits loses any.
  if (end - start < 5 || isPlain(text, start, end)) return undefined;
  const source = text.slice(start, end);
  return isHeld(source) ? undefined : source.slice(0, 40);
}

/** Whether a double holds a number literal: see {@link lostNumber}. */
export function isHeld(source: string): boolean {
  const value = Number(source);
  if (!Number.isFinite(value)) return false;
  const integer = /^(-?\d+)(?:\.0+)?$/.exec(source)?.[1];
  if (integer === undefined || Number.isSafeInteger(value)) return true;
  return BigInt(integer) === BigInt(value) || integer === String(value);
}

/** Whether a literal is so short, and its exponent so small, that it need not be looked at. */
function isPlain(text: string, start: number, end: number): boolean {
  let exponent = 0;
  for (let at = end - 1, weight = 1; at > end - 4 && at > start; at--, weight *= 10) {
    const char = text.charCodeAt(at);
    if (isExponent(char)) return exponent < 200 && end - start < 50;
    if (char >= ZERO && char <= NINE) exponent += (char - ZERO) * weight;
    else if (isExponent(text.charCodeAt(at - 1))) return exponent < 200 && end - start < 50;
  }
  if (end - start >= 16) return false;
  for (let at = start; at < end; at++) if (isExponent(text.charCodeAt(at))) return false;
  return true;
}

function isExponent(char: number): boolean {
  return char === 0x65 || char === 0x45;
}

/** Reads a string on from its first backslash: where its closing quote is, and what is wrong with what it escapes. */
function readEscapes(
  text: string,
  from: number,
): { end: number; reason?: 'body.nul' | 'body.half_surrogate' } {
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return { end: at };
    if (char !== BACKSLASH) continue;
    at++;
    if (text.charCodeAt(at) !== LOWER_U) continue;
    const unit = Number.parseInt(text.slice(at + 1, at + 5), 16);
    at += 4;
    if (unit === 0) return { end: at, reason: 'body.nul' };
    if ((unit & 0xf800) !== 0xd800) continue;
    // An escaped half can only be followed by another escaped half, because valid UTF-8 has no lone ones.
    const isPair = unit < 0xdc00 && /^\\u[dD][c-fC-F]/.test(text.slice(at + 1, at + 5));
    if (!isPair) return { end: at, reason: 'body.half_surrogate' };
    at += 6;
  }
  return { end: text.length };
}

/** The path of the value or key that begins at a position, as in `a.b[0]`; at most 200 characters of it. */
function pathAt(text: string, position: number): string {
  /** of each open container: the index in an array, or where the key in an object begins */
  const open: { isArray: boolean; at: number }[] = [];
  let keyComes = false;
  for (let at = 0; at <= position; at++) {
    const char = text.charCodeAt(at);
    const top = open.at(-1);
    if (char === QUOTE) {
      if (keyComes && top) top.at = at;
      keyComes = false;
      at = endOfString(text, at);
    } else if (at === position) {
      break;
    } else if (char === OPEN_BRACKET || char === OPEN_BRACE) {
      open.push({ isArray: char === OPEN_BRACKET, at: 0 });
      keyComes = char === OPEN_BRACE;
    } else if (char === CLOSE_BRACKET || char === CLOSE_BRACE) {
      open.pop();
    } else if (char === COMMA && top) {
      if (top.isArray) top.at++;
      else keyComes = true;
    }
  }
  let path = '';
  for (const { isArray, at } of open) {
    if (path.length > 200) break;
    path += isArray ? `[${at}]` : `${path && '.'}${keyAt(text, at)}`;
  }
  return path.toWellFormed().replaceAll('\0', '\ufffd').slice(0, 200) || 'the body';
}

function keyAt(text: string, start: number): string {
  const token = text.slice(start, endOfString(text, start) + 1);
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}
