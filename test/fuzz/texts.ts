import type { Random } from './random.ts';

const PLAIN = ['', ' ', 'a', 'Leaf rust', 'é', '界'.repeat(256), '🌍', '\u202e', '\n\t', '\ufeff', '١٢'];
const LONG = ['x'.repeat(300), 'x'.repeat(2049), 'x'.repeat(70_000), '🌍'.repeat(251)];
/** U+0000 and halves of surrogate pairs, which no text of ours may hold. */
const FORBIDDEN = ['\0', 'a\0b', '\ud800', 'a\udfffb', '\udc00\ud800'];
/** Texts with a meaning in SQL, HTML, paths, templates, formats or JavaScript. */
const MEANINGFUL = [
  "' OR 1=1 --",
  '%',
  '%00',
  '\\',
  '<script>',
  '../../etc/passwd',
  '{{7*7}}',
  '%s%n',
  '[]',
  '{}',
  'null',
  'true',
  'NaN',
];
const MOMENTS = [
  '2026-03-01',
  '2026-03-01T08:15:00Z',
  '2026-03-01T08:15:00 03',
  '2026-02-30',
  '0000-01-01',
  '-271821-04-20',
  '+275760-09-13T00:00:00Z',
  '9999-12-31T23:59:59.999999999+14:00',
];
const NAMES = ['x-private', 'i-klingon', 'a@b.example', '+250788123456', 'att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2'];

/** JSON numbers at the ends of what doubles, 32-bit and 64-bit integers, and decimals hold, and beyond. */
export const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '0.1',
  '1e-200',
  '5e-324',
  '1e-400',
  '1e100',
  '1e308',
  '1e999',
  '-1e999',
  '1E+2',
  '2147483647',
  '2147483648',
  '-2147483649',
  '9223372036854775807',
  '9223372036854775808',
  '9007199254740991',
  '9007199254740993',
  '-9007199254740993',
  '62149497467408096',
  '90',
  '-180.0000001',
  '123456789012345678901234567890',
  '0.1000000000000000055511151231257827',
];

/** Names that every object has, that are indexes, or that mean something to us. */
export const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'valueOf',
  'then',
  'toJSON',
  '0',
  '1',
  '-1',
  '4294967294',
  '4294967295',
  '',
  'é',
  '\u0000',
  'hash',
  'id',
  'length',
  '$ref',
  'a\nb',
  '\u2028',
];

/** Bytes that are no UTF-8: a lone surrogate, an overlong U+0000, half a character, a byte that never occurs. */
export const NO_UTF8 = ['\xed\xa0\x80', '\xc0\x80', '\xe7\x95', '\xff'];

/** Texts of what exists in a service, by the name of the field or parameter that takes them. */
export type Known = Readonly<Record<string, readonly string[]>>;

/** A text that may be anything. */
export function anyText(random: Random): string {
  return random.pick(random.pick([PLAIN, PLAIN, LONG, FORBIDDEN, MEANINGFUL, MOMENTS, NAMES, NUMBERS, KEYS]));
}

/** The UTF-8 bytes of a text, each as a character; a lone surrogate is written as if it were a character. */
export function bytesOf(text: string): string {
  return [...text]
    .map(character =>
      character.isWellFormed()
        ? Buffer.from(character).toString('latin1')
        : String.fromCharCode(
            0xed,
            0x80 | ((character.charCodeAt(0) >> 6) & 0x3f),
            0x80 | (character.charCodeAt(0) & 0x3f),
          ),
    )
    .join('');
}
