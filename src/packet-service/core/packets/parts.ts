import type { Database } from '../../../platform/database/database.ts';
import { cutByBytes } from '../../../platform/http/streamed-text.ts';
import { findPackets, type LargePacket, type PageRow, type Sections } from './read-store.ts';

/** Maximum bytes of texts read from the database at once for a page; large packets are read when they are sent. */
export const PAGE_BYTES = 1024 * 1024;

/** The size, in bytes, beyond which a packet is large on a page with this number of packets. */
export function largestOf(limit: number): number {
  return Math.floor(PAGE_BYTES / limit);
}

/** Whether a page has large packets, which are still to be read. */
export function hasLarge(rows: readonly PageRow[]): boolean {
  return rows.some(isLarge);
}

export function isLarge(row: PageRow): row is LargePacket {
  return row.header === null;
}

/**
 * The items of a page as texts to be joined, read from the database part by part.
 *
 * @param item formats a packet for the page
 */
export async function* itemsInParts<Row extends PageRow>(
  database: Database,
  rows: readonly Row[],
  item: (sections: Sections, row: Row) => string,
): AsyncGenerator<string> {
  let before = '';
  for (const part of cutByBytes(rows, sizeOf)) {
    yield before + (await textOf(database, part, item));
    before = ',';
  }
}

/** A function of its own, because what a generator has in variables stays in memory while a client reads. */
async function textOf<Row extends PageRow>(
  database: Database,
  part: readonly Row[],
  item: (sections: Sections, row: Row) => string,
): Promise<string> {
  const ids = part.flatMap(row => (isLarge(row) ? [idOfLarge(row)] : []));
  const packets = ids.length === 0 ? [] : await findPackets(database, ids);
  let next = 0;
  return part.map(row => item(isLarge(row) ? (packets[next++] as Sections) : row, row)).join(',');
}

function sizeOf(row: PageRow): number {
  if (isLarge(row)) return Number(row.footer.slice(37));
  return row.header.length + (row.body?.length ?? 0) + row.footer.length;
}

/** The id, uuid form, of a large packet. */
export function idOfLarge({ footer }: LargePacket): string {
  return footer.slice(0, 36);
}
