import { Problem } from './problems.ts';

/** Arrays and objects inside one another, at most. Everything behind the parser may therefore recurse. */
export const MAX_JSON_DEPTH = 64;

/**
 * What a text must hold before it can break a rule that JSON.parse does not know: a number of 16 digits before its
 * point (the first integer that a double may not hold), one with an exponent of three digits (the first that
 * overflows), an escaped surrogate, an escaped U+0000. Almost no text does, so almost every text is read by JSON.parse
 * alone. Numbers are looked for where JSON lets them begin, as hashes and ids are full of digits.
 */
const SUSPECT = /(?:^|[[:,\s-])(?:[0-9]{16}|[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]{3})|\\u(?:0000|[dD][89a-fA-F])/;

/**
 * Reads a JSON text without losing anything of it: numbers that a double cannot hold are refused, not rounded;
 * strings that PostgreSQL or UTF-8 cannot hold are refused, not replaced. Of duplicate keys the last wins.
 *
 * @throws Problem unreadable, naming the path of the offending value
 */
export function readJson(text: string): unknown {
  const suspect = SUSPECT.test(text);
  const value = parse(text, suspect);
  if (suspect || brackets(text) > MAX_JSON_DEPTH) inspect(value, '', 1);
  return value;
}

/** Stands in the place of a number that a double does not hold, until `inspect` has found the path to it. */
class LostNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

function parse(text: string, suspect: boolean): unknown {
  try {
    if (!suspect) return JSON.parse(text);
    return JSON.parse(text, (_key, value, context?: { source?: string }) =>
      typeof value === 'number' && !isExact(value, context?.source ?? '')
        ? new LostNumber(context?.source ?? '')
        : value,
    );
  } catch (error) {
    throw new Problem('unreadable', `the body is not valid JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

/**
 * Whether a number literal survives as a double: no overflow, and integer literals to the last digit. An integer
 * that is written as ECMAScript writes its double survives too (62149497467408090 for 62149497467408096): it is
 * how canonical JSON gives such a number back, and what we gave must be taken again.
 */
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  if (/[.eE]/.test(source) || Number.isSafeInteger(value)) return true;
  return BigInt(source) === BigInt(value) || source === String(value);
}

/** How deep the text can nest at most; brackets inside strings make it an upper bound. */
function brackets(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x5b || char === 0x7b) count++;
  }
  return count;
}

function inspect(value: unknown, path: string, depth: number): void {
  if (typeof value === 'string') inspectString(value, path);
  if (value === null || typeof value !== 'object') return;
  if (value instanceof LostNumber) {
    const shown = value.source.slice(0, 40);
    throw new Problem(
      'unreadable',
      `${path || 'the body'}: ${shown} is not a number that a double holds exactly`,
    );
  }
  if (depth > MAX_JSON_DEPTH) {
    throw new Problem('unreadable', `${path.slice(0, 200)}: nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      inspect(item, `${path}[${index}]`, depth + 1);
    });
    return;
  }
  for (const key of Object.keys(value)) {
    const inner = path ? `${path}.${key}` : key;
    inspectString(key, inner);
    inspect((value as Record<string, unknown>)[key], inner, depth + 1);
  }
}

function inspectString(value: string, path: string): void {
  const shown = (path || 'the body').toWellFormed().replaceAll('\0', '\ufffd').slice(0, 200);
  if (!value.isWellFormed()) throw new Problem('unreadable', `${shown}: holds half of a surrogate pair`);
  if (value.includes('\0')) throw new Problem('unreadable', `${shown}: holds the character U+0000`);
}
