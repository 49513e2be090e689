import { AUTHOR } from './columns.ts';
import { copy, type Output, reserve } from './output.ts';
import type { RowWriter } from './writer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const APOSTROPHE = 0x27;
const CR = 0x0d;
const LF = 0x0a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const LETTER_N = 0x6e;
/**
 * Characters that start a formula in spreadsheets (OWASP, CSV injection): `= + - @`, tab and line breaks, and the
 * full-width forms of the first four, which all begin with the same two bytes.
 */
const BEGINS_FORMULA = new Set([...'=+-@\t\r\n'].map(character => character.charCodeAt(0)));
const FULL_WIDTH = 0xef;
const FULL_WIDTH_FORMS = ['＝', '＋', '－', '＠'].map(character => Buffer.from(character));

/**
 * Writes CSV (RFC 4180): a line of names, then a line per packet, ended by CRLF. Strings are as they are, an empty one
 * is `""`, absent and null are nothing; numbers and booleans are as in JSON, arrays are JSON text.
 *
 * @param raw leaves cells that begin like a formula; by default an apostrophe is put before them. Numbers have none,
 *   negative ones included: no spreadsheet runs them.
 */
export function csvWriter(columns: readonly string[], raw: boolean): RowWriter {
  const writeName = (output: Output, name: string) => {
    const text = Buffer.from(name);
    reserve(output, 2 * text.length + 4);
    writeText(output, text, 0, text.length, raw);
  };
  return {
    start(output) {
      columns.forEach((name, index) => {
        if (index > 0) output.bytes[output.at++] = COMMA;
        writeName(output, name);
      });
      reserve(output, 2);
      endLine(output);
    },
    row(output, { bytes, starts, ends, length }) {
      // At most, every byte is a quote that is doubled, and every cell is quoted and has an apostrophe.
      reserve(output, 2 * length + 4 * columns.length + 2);
      for (let column = 0; column < columns.length; column++) {
        if (column > 0) output.bytes[output.at++] = COMMA;
        const start = starts[column] as number;
        if (start < 0) continue;
        const end = ends[column] as number;
        if (column === AUTHOR) writeText(output, bytes, start, end, raw);
        else writeValue(output, bytes, start, end, raw);
      }
      endLine(output);
    },
    end() {},
  };
}

function endLine(output: Output): void {
  output.bytes[output.at++] = CR;
  output.bytes[output.at++] = LF;
}

/** Writes a JSON value as a cell. */
function writeValue(output: Output, bytes: Buffer, start: number, end: number, raw: boolean): void {
  const first = bytes[start];
  if (first === QUOTE) writeString(output, bytes, start, end, raw);
  else if (first === OPEN_BRACE || first === OPEN_BRACKET) writeText(output, bytes, start, end, raw);
  else if (first !== LETTER_N) copy(output, bytes, start, end);
}

/** Bytes with which a text cannot simply be copied: it needs quotes, or a JSON string is escaped. */
const SPECIAL = new Uint8Array(256);
for (const byte of [COMMA, QUOTE, CR, LF, BACKSLASH]) SPECIAL[byte] = 1;

/** Writes a JSON string as a cell. Most are copied in one loop. */
function writeString(output: Output, json: Buffer, start: number, end: number, raw: boolean): void {
  const { bytes, at } = output;
  const first = json[start + 1] as number;
  if (end - start > 2 && (raw || (first !== FULL_WIDTH && !BEGINS_FORMULA.has(first)))) {
    let to = at;
    let next = start + 1;
    for (; next < end - 1; next++) {
      const byte = json[next] as number;
      if (SPECIAL[byte] === 1) break;
      bytes[to++] = byte;
    }
    if (next === end - 1) {
      output.at = to;
      return;
    }
  }
  if (json.subarray(start, end).includes(BACKSLASH)) {
    const text = Buffer.from(JSON.parse(json.toString('utf8', start, end)) as string);
    writeText(output, text, 0, text.length, raw);
  } else writeText(output, json, start + 1, end - 1, raw);
}

/** Writes UTF-8 text as a cell, in quotes where it needs them. */
function writeText(output: Output, text: Buffer, start: number, end: number, raw: boolean): void {
  const { bytes } = output;
  const needsQuotes = start === end || hasSpecial(text, start, end);
  if (needsQuotes) bytes[output.at++] = QUOTE;
  if (!raw && beginsFormula(text, start, end)) bytes[output.at++] = APOSTROPHE;
  let to = output.at;
  for (let at = start; at < end; at++) {
    const byte = text[at] as number;
    if (byte === QUOTE) bytes[to++] = QUOTE;
    bytes[to++] = byte;
  }
  output.at = to;
  if (needsQuotes) bytes[output.at++] = QUOTE;
}

function beginsFormula(text: Buffer, start: number, end: number): boolean {
  if (start === end) return false;
  const first = text[start] as number;
  if (first !== FULL_WIDTH) return BEGINS_FORMULA.has(first);
  return FULL_WIDTH_FORMS.some(form => text.subarray(start, Math.min(start + form.length, end)).equals(form));
}

function hasSpecial(text: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (SPECIAL[text[at] as number] === 1) return true;
  return false;
}
