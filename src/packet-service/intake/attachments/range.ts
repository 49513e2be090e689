import type { ByteRange } from '../../../platform/files/index.ts';

/**
 * The part of a file that a request asks for (RFC 9110 §14). Only a single range of bytes is served in part; for any
 * other Range the whole file is a correct answer (§14.2).
 *
 * @param size bytes of the file
 * @returns the part, `whole`, or `unsatisfiable` when the range lies outside the file
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Number(last);
  if (last !== '' && end < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size - 1) };
}

/**
 * Whether a range may be served: If-Range, if sent, must match the file (RFC 9110 §13.1.5).
 *
 * @param tag the file's strong ETag
 */
export function allowsRange(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || ifRange.trim() === tag;
}
