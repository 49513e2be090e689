import { bytesToUlid } from '../../core/packet-format/ulid.ts';
import { fieldRanges, readRanges } from '../../core/packets/copy-rows.ts';
import type { GraphRow } from './triples.ts';

/** Fields of a row: header, thread, body, author, additional GeoID. */
export const GRAPH_FIELDS = 5;

/** Reads whole rows of the export. */
export function readGraphRows(rows: Buffer, onRow: (row: GraphRow) => void): void {
  const ranges = fieldRanges(GRAPH_FIELDS);
  const { starts, ends } = ranges;
  const text = (field: number): string | null => {
    const start = starts[field] as number;
    return start < 0 ? null : rows.toString('utf8', start, ends[field]);
  };
  for (let at = 0; at < rows.length; ) {
    at = readRanges(rows, at, ranges);
    const thread = starts[1] as number;
    onRow({
      header: text(0) as string,
      thread: thread < 0 ? null : bytesToUlid(rows.subarray(thread, ends[1])),
      body: text(2),
      author: text(3),
      additionalGeoid: text(4),
    });
  }
}
