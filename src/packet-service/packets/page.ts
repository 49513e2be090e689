import { spliceSections } from '../packet/packet.ts';
import type { PlacedSections, Sections } from './read-store.ts';

/** Packets on a page unless the client says otherwise, and at most. */
export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1000;

/** A page as GET /packets answers it: the stored texts side by side, not parsed and written again. */
export function pageAsJson(rows: readonly Sections[], nextCursor: string | undefined): string {
  const packets = rows.map(spliceSections).join(',');
  const next = nextCursor === undefined ? '' : `,"next_cursor":"${nextCursor}"`;
  return `{"packets":[${packets}],"count":${rows.length}${next}}`;
}

/**
 * A page as a GeoJSON FeatureCollection (RFC 7946): each packet a Feature at its capture point, or without
 * geometry when it has none. Header, Body and Footer are its properties, as they are in the packet; count and
 * next_cursor are members of the collection (§6.1 allows them).
 */
export function pageAsGeoJson(rows: readonly PlacedSections[], nextCursor: string | undefined): string {
  const features = rows.map(row => {
    const geometry =
      row.lat === null || row.lon === null
        ? 'null'
        : `{"type":"Point","coordinates":[${row.lon},${row.lat}]}`;
    return `{"type":"Feature","id":"${idOf(row)}","geometry":${geometry},"properties":${spliceSections(row)}}`;
  });
  const next = nextCursor === undefined ? '' : `,"next_cursor":"${nextCursor}"`;
  return `{"type":"FeatureCollection","features":[${features.join(',')}],"count":${rows.length}${next}}`;
}

/** The id of a packet from its stored Header. */
export function idOf({ header }: Pick<Sections, 'header'>): string {
  return (JSON.parse(header) as { id: string }).id;
}
