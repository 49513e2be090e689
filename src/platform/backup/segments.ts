/** Bytes of a segment of PostgreSQL's write-ahead log, as initdb makes it. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;
const PER_FILE_ID = 2n ** 32n / BigInt(SEGMENT_BYTES);

/** Files that the server archives besides segments: `…/00000002.history` says where a timeline began. */
export const SEGMENT = /^[0-9A-F]{24}$/;
export const HISTORY = /^[0-9A-F]{8}\.history$/;

function numberOf(segment: string): bigint {
  return BigInt(`0x${segment.slice(8, 16)}`) * PER_FILE_ID + BigInt(`0x${segment.slice(16)}`);
}

function hex(value: bigint): string {
  return value.toString(16).toUpperCase().padStart(8, '0');
}

/** The segment of a number, from 0, on a timeline of 8 hex digits. */
function nameOf(timeline: string, number: bigint): string {
  return timeline + hex(number / PER_FILE_ID) + hex(number % PER_FILE_ID);
}

/** The segment that follows on the same timeline. */
export function nextSegment(segment: string): string {
  return nameOf(segment.slice(0, 8), numberOf(segment) + 1n);
}

/** The segment that holds the byte before a position of the log, such as `0/3000060`. */
export function segmentBefore(timeline: string, lsn: string): string {
  const [high = '0', low = '0'] = lsn.split('/');
  const position = (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
  return nameOf(timeline, (position - 1n) / BigInt(SEGMENT_BYTES));
}

/** Whether a segment is before another in the log; segments of one timeline only are compared. */
export function isBefore(segment: string, other: string): boolean {
  return numberOf(segment) < numberOf(other);
}

/** How many segments in a row there are from one on. */
export function contiguousFrom(first: string, has: (segment: string) => boolean): string[] {
  const segments: string[] = [];
  for (let segment = first; has(segment); segment = nextSegment(segment)) segments.push(segment);
  return segments;
}

/** A segment with the time when the server closed it: everything that was committed until then is in it or before it. */
export function packSegment(bytes: Buffer, closedAt: Date): Buffer {
  const time = Buffer.alloc(8);
  time.writeDoubleBE(closedAt.getTime());
  return Buffer.concat([bytes, time]);
}

export function unpackSegment(packed: Buffer): { bytes: Buffer; closedAt: Date } {
  const end = packed.length - 8;
  return { bytes: packed.subarray(0, end), closedAt: new Date(packed.readDoubleBE(end)) };
}
