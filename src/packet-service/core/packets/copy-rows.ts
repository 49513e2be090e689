const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
/** The signature, 32 bits of flags, 32 bits of the length of an extension that no server sends. */
const HEADER_BYTES = SIGNATURE.length + 8;

/**
 * Cuts a binary COPY (PostgreSQL's manual, COPY, "Binary Format") that arrives in pieces of any size into whole rows.
 *
 * Binary, because values are then unescaped and preceded by their length: no byte of a client's text can be mistaken
 * for a delimiter.
 *
 * @param fields of each row
 * @returns a function that takes the next piece and returns the bytes of the rows that are complete by then
 */
export function wholeRows(fields: number): (piece: Buffer) => Buffer {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  return piece => {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let start = 0;
    if (!started) {
      if (bytes.length < HEADER_BYTES) {
        rest = bytes;
        return bytes.subarray(0, 0);
      }
      if (bytes.compare(SIGNATURE, 0, SIGNATURE.length, 0, SIGNATURE.length) !== 0) {
        throw new Error('the server did not send a binary COPY');
      }
      start = HEADER_BYTES;
      started = true;
    }
    let at = start;
    for (;;) {
      const end = endOfRow(bytes, at, fields);
      if (end === undefined) break;
      at = end;
    }
    rest = bytes.subarray(at);
    return bytes.subarray(start, at);
  };
}

/** The end of the row that begins at an offset; undefined if it is incomplete or the trailer. */
function endOfRow(bytes: Buffer, start: number, fields: number): number | undefined {
  let at = start + 2;
  if (at > bytes.length || bytes.readInt16BE(start) !== fields) return undefined;
  for (let field = 0; field < fields; field++) {
    if (at + 4 > bytes.length) return undefined;
    at += 4 + Math.max(0, bytes.readInt32BE(at));
  }
  return at <= bytes.length ? at : undefined;
}

/** Where the fields of a row are: the offset of the first byte and of the one after the last; null begins at -1. */
export interface FieldRanges {
  starts: Int32Array;
  ends: Int32Array;
}

/** Ranges for {@link readRanges}. */
export function fieldRanges(fields: number): FieldRanges {
  return { starts: new Int32Array(fields), ends: new Int32Array(fields) };
}

/**
 * Finds the fields of the row that begins at an offset of whole rows.
 *
 * @returns the offset after the row
 */
export function readRanges(rows: Buffer, start: number, { starts, ends }: FieldRanges): number {
  let at = start + 2;
  for (let field = 0; field < starts.length; field++) {
    const length = rows.readInt32BE(at);
    at += 4;
    starts[field] = length < 0 ? -1 : at;
    at += Math.max(0, length);
    ends[field] = at;
  }
  return at;
}
