import type { Fault } from './catalogue.ts';
import type { ParameterValue } from './reason.ts';

/** The header that says why a request failed, for programs. */
export const REASON_HEADER = 'fieldtrace-reason';

/** Maximum items. */
const MAX_ITEMS = 8;
/** Maximum length in characters, which are all ASCII. */
const MAX_LENGTH = 2048;
/** Maximum length of a text in bytes of UTF-8; longer texts are cut. */
const MAX_VALUE = 200;
/** The largest Integer of RFC 9651 §3.3.1. */
const MAX_INTEGER = 999_999_999_999_999;

const PRINTABLE = /^[ -~]*$/;

/**
 * The value of Fieldtrace-Reason: a List of RFC 9651 with an Item for each fault, which has the parameters of its reason,
 * such as `validation.too_long;field="name";max=100`. What does not fit in 8 items and 2 KB is left out.
 *
 * @returns undefined if there is no fault
 */
export function reasonHeader(faults: readonly Fault[]): string | undefined {
  let header = '';
  for (const { reason, parameters } of faults.slice(0, MAX_ITEMS)) {
    const start = header === '' ? reason : `, ${reason}`;
    if (header.length + start.length > MAX_LENGTH) break;
    header += start;
    for (const [name, value] of Object.entries(parameters)) {
      const parameter = `;${name}=${bareItem(value)}`;
      if (header.length + parameter.length <= MAX_LENGTH) header += parameter;
    }
  }
  return header === '' ? undefined : header;
}

/**
 * An Integer, a String, or for what is not printable ASCII a Display String. Fractions are Strings, so that none of their
 * digits is lost.
 */
function bareItem(value: ParameterValue): string {
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAX_INTEGER)
    return String(value);
  const text = cutToBytes(String(value).slice(0, MAX_VALUE), MAX_VALUE);
  if (PRINTABLE.test(text)) return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  return `%"${[...Buffer.from(text)].map(displayed).join('')}"`;
}

/** The longest start of a text that fits in a number of bytes of UTF-8. A lone surrogate becomes U+FFFD. */
function cutToBytes(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read).toWellFormed();
}

/** A byte in a Display String (RFC 9651 §4.1.11). */
function displayed(byte: number): string {
  const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x25 && byte !== 0x22;
  return isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`;
}
