import type { Database } from '../../../platform/database/database.ts';
import { spliceRest, spliceSections } from '../packet-format/packet.ts';
import { uuidToUlid } from '../packet-format/ulid.ts';
import { hasLarge, idOfLarge, isLarge, itemsInParts } from './parts.ts';
import type { LocatedRow, PageRow, Sections } from './read-store.ts';

/** Packets on a page by default, and at most. */
export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1000;

/** The body of a page: one text, or texts that are read one after another if some packets are large. */
export type PageText = string | AsyncGenerator<string>;

/** Parts of a page other than its packets. */
export interface PageEnd {
  /** absent on the last page */
  nextCursor: string | undefined;
  /** authors in the order of the packets, if requested */
  authors?: (string | null)[] | undefined;
}

/** The body of a page of GET /packets: the stored texts are joined without parsing them. */
export function pageAsJson(database: Database, rows: readonly PageRow[], end: PageEnd): PageText {
  return pageText(database, rows, asPacket, '{"packets":[', endOfPage(rows.length, end));
}

/**
 * A page as a GeoJSON FeatureCollection (RFC 7946): each packet a Feature at its capture point, or without
 * geometry when it has none. Header, Body and Footer are its properties, as they are in the packet; count, next_cursor
 * and authors are members of the collection (§6.1 allows them).
 */
export function pageAsGeoJson(database: Database, rows: readonly LocatedRow[], end: PageEnd): PageText {
  const start = '{"type":"FeatureCollection","features":[';
  return pageText(database, rows, asFeature, start, endOfPage(rows.length, end));
}

function endOfPage(count: number, { nextCursor, authors }: PageEnd): string {
  const named = authors === undefined ? '' : `,"authors":${JSON.stringify(authors)}`;
  return `],"count":${count}${named}${nextCursor === undefined ? '' : `,"next_cursor":"${nextCursor}"`}}`;
}

/**
 * A page between its start and its end.
 *
 * @param item formats a packet for the page
 */
export function pageText<Row extends PageRow>(
  database: Database,
  rows: readonly Row[],
  item: (sections: Sections, row: Row) => string,
  start: string,
  end: string,
): PageText {
  if (hasLarge(rows)) return inParts(start, itemsInParts(database, rows, item), end);
  return `${start}${rows.map(row => item(row as Sections, row)).join(',')}${end}`;
}

async function* inParts(start: string, items: AsyncGenerator<string>, end: string): AsyncGenerator<string> {
  yield start;
  yield* items;
  yield end;
}

/** A packet. One that was erased while the page was being sent keeps its position, with what is left. */
function asPacket(sections: Sections): string {
  return sections.body === null ? spliceRest(sections) : spliceSections(sections);
}

function asFeature(sections: Sections, { lat, lon }: LocatedRow): string {
  const geometry = lat === null || lon === null ? 'null' : `{"type":"Point","coordinates":[${lon},${lat}]}`;
  return `{"type":"Feature","id":"${headerId(sections.header)}","geometry":${geometry},"properties":${asPacket(sections)}}`;
}

/** The id of a packet on a page. */
export function idOf(row: PageRow): string {
  return isLarge(row) ? uuidToUlid(idOfLarge(row)) : headerId(row.header);
}

function headerId(header: string): string {
  return (JSON.parse(header) as { id: string }).id;
}
