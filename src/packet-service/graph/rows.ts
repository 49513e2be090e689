import { bytesToUlid } from '../packet/ulid.ts';
import type { GraphRow } from './triples.ts';

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
/** The signature, 32 bits of flags, 32 bits of the length of an extension that no server sends. */
const HEADER_BYTES = SIGNATURE.length + 8;
const FIELDS = 5;

/**
 * Reads the rows of a binary COPY (PostgreSQL's manual, COPY, "Binary Format") out of pieces of any size.
 *
 * Binary, because values are then unescaped and preceded by their length: no byte of a client's text can be mistaken
 * for a delimiter.
 *
 * @returns a function that takes the next piece and returns each row that is complete by then
 */
export function rowReader(): (piece: Buffer, each: (row: GraphRow) => void) => void {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  return (piece, each) => {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    if (!started) {
      if (bytes.length < HEADER_BYTES) {
        rest = bytes;
        return;
      }
      if (bytes.compare(SIGNATURE, 0, SIGNATURE.length, 0, SIGNATURE.length) !== 0) {
        throw new Error('the server did not send a binary COPY');
      }
      at = HEADER_BYTES;
      started = true;
    }
    for (;;) {
      const end = endOfRow(bytes, at);
      if (end === undefined) break;
      each(readRow(bytes, at));
      at = end;
    }
    rest = bytes.subarray(at);
  };
}

/** Where the row that begins at an offset ends; undefined if it is incomplete or the trailer. */
function endOfRow(bytes: Buffer, start: number): number | undefined {
  let at = start + 2;
  if (at > bytes.length || bytes.readInt16BE(start) !== FIELDS) return undefined;
  for (let field = 0; field < FIELDS; field++) {
    if (at + 4 > bytes.length) return undefined;
    at += 4 + Math.max(0, bytes.readInt32BE(at));
  }
  return at <= bytes.length ? at : undefined;
}

function readRow(bytes: Buffer, start: number): GraphRow {
  let at = start + 2;
  const next = (read: (from: number, to: number) => string): string | null => {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) return null;
    at += length;
    return read(at - length, at);
  };
  const text = (from: number, to: number) => bytes.toString('utf8', from, to);
  const ulid = (from: number, to: number) => bytesToUlid(bytes.subarray(from, to));
  return {
    header: next(text) as string,
    thread: next(ulid),
    body: next(text),
    author: next(text),
    additionalGeoid: next(text),
  };
}
