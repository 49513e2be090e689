import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Database, prepared } from '../../../platform/database/database.ts';
import { countMade } from './count-store.ts';
import {
  ADDITIONAL,
  conditionsOf,
  hasManyTexts,
  OWN,
  type PacketFilter,
  type Source,
} from './filter-store.ts';

/** The stored texts of the three sections of a packet. */
export interface Sections {
  header: string;
  body: string;
  footer: string;
}

/** A packet, its thread (uuid form), and whether that was created with a token. */
export interface StoredPacket extends Sections {
  threadId: string | null;
  closed: boolean;
  /** when it was erased: then only Header and hash are left */
  erasedAt: Date | null;
}

/** A packet on a page that is too large to be read together with others. */
export interface LargePacket {
  header: null;
  body: null;
  /** its id (uuid form), a space, and the bytes of its sections: a column of their own would cost every packet more */
  footer: string;
}

/** A packet on a page: with its sections, unless it is large. */
export type PageRow = Sections | LargePacket;

/** The same, and where its capture point is. */
export type LocatedRow = PageRow & { lat: number | null; lon: number | null };

/** A packet on a page, and what decides who may read it. */
export type SmallPacket = Omit<StoredPacket, keyof Sections> & PageRow;

/** The position of a packet in the order of pages. */
export interface PagePosition {
  /** in full precision, as PostgreSQL writes it */
  ts: string;
  /** uuid form */
  id: string;
}

export interface PageRequest {
  order: 'asc' | 'desc';
  limit: number;
  /** bytes beyond which a packet is large */
  largest: number;
  /** the last packet of the previous page */
  after?: PagePosition | undefined;
}

/** Packets by id (uuid form), in the order of the ids; undefined for missing ones. */
export async function findPackets(
  database: Database,
  ids: readonly string[],
): Promise<(StoredPacket | undefined)[]> {
  const { rows } = await database.query<StoredPacket & { id: string }>({
    name: 'find_packets',
    text: 'SELECT id, thread_id AS "threadId", closed IS TRUE AS closed, erased_at AS "erasedAt", header, body, footer FROM packets WHERE id = ANY ($1::uuid[])',
    values: [ids],
  });
  const byId = new Map(rows.map(row => [row.id, row]));
  return ids.map(id => byId.get(id));
}

/** The sender and the attachments of a message. */
export interface MessageDetails {
  /** null where nobody is known */
  sender: string | null;
  /** the user of the token that it was sent with */
  author: string | null;
  /** JSON; null where there are none */
  attachments: string | null;
}

/** The details of messages by id (uuid form). The database reads the bodies: together they can be large. */
export async function findMessageDetails(
  database: Database,
  ids: readonly string[],
): Promise<Map<string, MessageDetails>> {
  const { rows } = await database.query<MessageDetails & { id: string }>({
    name: 'find_message_details',
    text: `SELECT id, coalesce(author, body::jsonb ->> 'from_user') AS sender, author,
        (body::jsonb -> 'attachments')::text AS attachments
      FROM packets WHERE id = ANY ($1::uuid[]) AND erased_at IS NULL`,
    values: [ids],
  });
  return new Map(rows.map(row => [row.id, row]));
}

/** The authors of packets by id (uuid form): the users of the tokens that they were sent with, null without a token. */
export async function findAuthors(database: Database, ids: readonly string[]): Promise<(string | null)[]> {
  const { rows } = await database.query<{ id: string; author: string }>({
    name: 'find_authors',
    text: 'SELECT id, author FROM packets WHERE id = ANY ($1::uuid[]) AND author IS NOT NULL',
    values: [ids],
  });
  const authors = new Map(rows.map(({ id, author }) => [id, author]));
  return ids.map(id => authors.get(id) ?? null);
}

/** Packets as findPackets gives them, but without the sections of packets of more than `largest` bytes. */
export async function findSmallPackets(
  database: Database,
  ids: readonly string[],
  largest: number,
): Promise<(SmallPacket | undefined)[]> {
  const { rows } = await database.query<SmallPacket & { id: string }>(
    prepared(sql`
      SELECT p.id, p.thread_id AS "threadId", p.closed IS TRUE AS closed, p.erased_at AS "erasedAt",
        ${sectionColumns(largest)}
      FROM (SELECT *, ${BYTES} AS bytes FROM packets p WHERE id = ANY (${ids}::uuid[]) OFFSET 0) AS p`),
  );
  const byId = new Map(rows.map(row => [row.id, row]));
  return ids.map(id => byId.get(id));
}

/** The position of a packet (id in the uuid form) in the order of pages; undefined if there is none. */
export async function findPagePosition(database: Database, id: string): Promise<PagePosition | undefined> {
  const { rows } = await database.query<PagePosition>({
    name: 'find_place',
    text: 'SELECT ts::text, id FROM packets WHERE id = $1',
    values: [id],
  });
  return rows[0];
}

/**
 * One page of packets by (timestamp, id): rows after the end of the previous page, so that packets which arrive
 * meanwhile shift nothing. A GeoID is searched in packets and in additional GeoIDs, each in its index order, and the
 * two are merged: an OR over both would read and sort all matches.
 */
export function listPackets(database: Database, filter: PacketFilter, page: PageRequest): Promise<PageRow[]> {
  return readPage<PageRow>(
    database,
    sql`p.header, p.body, p.footer`,
    sectionColumns(page.largest),
    filter,
    page,
  );
}

/** Like `listPackets`, with capture points: numbers, unlike texts, have to be parsed and formatted. */
export function listLocatedPackets(
  database: Database,
  filter: PacketFilter,
  page: PageRequest,
): Promise<LocatedRow[]> {
  const columns = sql`p.header, p.body, p.footer, p.lat, p.lon`;
  return readPage<LocatedRow>(
    database,
    columns,
    sql`${sectionColumns(page.largest)}, lat, lon`,
    filter,
    page,
  );
}

/** Bytes of a packet's sections, computed without reading TOASTed texts. */
const BYTES = sql`octet_length(p.header) + coalesce(octet_length(p.body), 0) + octet_length(p.footer)`;

/** The columns of a {@link PageRow}, from rows that have sections and `bytes`. */
function sectionColumns(largest: number): Sql {
  const ifSmall = sql`CASE WHEN bytes <= ${largest} THEN`;
  return sql`${ifSmall} header END AS header, ${ifSmall} body END AS body,
    ${ifSmall} footer ELSE id::text || ' ' || bytes END AS footer`;
}

/** The rows of a page are found first: their bytes are then computed once for each, not once for each column. */
async function readPage<Row extends PageRow>(
  database: Database,
  stored: Sql,
  columns: Sql,
  filter: PacketFilter,
  page: PageRequest,
): Promise<Row[]> {
  const isSorted = await hasFewMade(database, filter);
  const own = pageOf(OWN, sql`p.ts, p.id, ${BYTES} AS bytes, ${stored}`, filter, { ...page, isSorted });
  const rows =
    filter.geoid === undefined
      ? own
      : sql`(${own}) UNION ALL (${pageOf(ADDITIONAL, sql`g.ts, p.id, ${BYTES} AS bytes, ${stored}`, filter, page)})`;
  const statement = sql`
    SELECT ${columns} FROM (${rows}) AS found
    ORDER BY ts ${direction(page)}, id ${direction(page)} LIMIT ${page.limit}`;
  // Which index is best for a range of ids depends on the range.
  const isPlannedByValues = hasManyTexts(filter) || isByMaking(filter);
  return (await database.query<Row>(isPlannedByValues ? statement : prepared(statement))).rows;
}

/** Maximum packets in a range of ids that are read and sorted for a page. */
const SORTED = 20_000;

const isByMaking = ({ made_from, made_to }: PacketFilter) => (made_from ?? made_to) !== undefined;

/** Whether so few packets are in the range of ids of a filter that a page is found sooner among them than by time. */
async function hasFewMade(database: Database, filter: PacketFilter): Promise<boolean> {
  // The packets of a GeoID are few compared with all others.
  if (filter.geoid !== undefined || !isByMaking(filter)) return false;
  return (await countMade(database, filter, SORTED + 1)) <= SORTED;
}

function pageOf(
  source: Source,
  columns: Sql,
  filter: PacketFilter,
  page: PageRequest & { isSorted?: boolean },
): Sql {
  const { from, ts, id } = source;
  const { order, after, isSorted = false } = page;
  // A sum is in no index: PostgreSQL would walk the one by time, past everything that is newer than the range.
  const time = isSorted ? sql`${ts} + interval '0'` : ts;
  const following = after
    ? [sql`(${ts}, ${id}) ${raw(order === 'asc' ? '>' : '<')} (${after.ts}::timestamptz, ${after.id}::uuid)`]
    : [];
  const where = join([...conditionsOf(filter, source), ...following], ' AND ');
  return sql`SELECT ${columns} FROM ${from} WHERE ${where}
    ORDER BY ${time} ${direction(page)}, ${id} ${direction(page)} LIMIT ${page.limit}`;
}

function direction({ order }: PageRequest): Sql {
  return raw(order === 'asc' ? 'ASC' : 'DESC');
}
