/** The type of integer in PostgreSQL's catalogue, pg_type.oid. */
const INT4 = 23;

/**
 * An array of 32-bit integers as PostgreSQL receives it in binary (array_recv): half the bytes of its text form, and
 * nothing to format or parse.
 */
export function int4Array(values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(20 + 8 * values.length);
  // Dimensions, whether there are nulls, the elements' type, their number, the index of the first.
  let at = bytes.writeInt32BE(1, 0);
  at = bytes.writeInt32BE(0, at);
  at = bytes.writeInt32BE(INT4, at);
  at = bytes.writeInt32BE(values.length, at);
  at = bytes.writeInt32BE(1, at);
  for (const value of values) at = bytes.writeInt32BE(value, bytes.writeInt32BE(4, at));
  return bytes;
}
