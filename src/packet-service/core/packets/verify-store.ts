import sql, { empty, type Sql } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { Sections } from './read-store.ts';

/** Packets whose ids (uuid form) are from `from` on and before `to`; without `to`, to the last one. */
export interface IdRange {
  from: string;
  to: string | undefined;
}

/** The id before all others, in the uuid form. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** A packet's sections, and what was copied out of them for queries; ids in the uuid form. */
export interface PacketCopies extends Sections {
  id: string;
  threadId: string | null;
  erasedAt: Date | null;
  geoid: string;
  /** ISO 8601 in UTC with six decimals */
  ts: string;
  type: string;
  lat: number | null;
  lon: number | null;
  cell: number | null;
  additionalGeoids: string[];
  /** rows of the attachments that it names */
  attachments: { id: string; threadId: string | null }[];
}

type Row = Omit<PacketCopies, 'cell' | 'additionalGeoids' | 'attachments'> & { cell: string | null };
type GeoidRow = { id: string; geoid: string };
type AttachmentRow = { id: string; attachmentId: string; threadId: string | null };

const COLUMNS = sql`id, thread_id AS "threadId", erased_at AS "erasedAt", geoid, type, lat, lon, cell,
  to_char(ts, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ts`;

/** The condition that a column with the id of a packet is in a range. */
export function inRange(column: Sql, { from, to }: IdRange): Sql {
  return sql`${column} >= ${from}${to === undefined ? empty : sql` AND ${column} < ${to}`}`;
}

/** The id (uuid form) of the packet that follows `count` packets from `from` on; undefined where there are no more. */
export async function skipPackets(
  database: Database,
  from: string,
  count: number,
): Promise<string | undefined> {
  const { rows } = await database.query<{ id: string }>({
    name: 'skip_packets',
    text: 'SELECT id FROM packets WHERE id >= $1 ORDER BY id OFFSET $2 LIMIT 1',
    values: [from, count],
  });
  return rows[0]?.id;
}

/** A packet (id in the uuid form) with everything that is stored beside its sections. */
export async function findCopies(database: Database, id: string): Promise<PacketCopies | undefined> {
  const packets = await database.query<Row>(
    sql`SELECT ${COLUMNS}, header, body, footer FROM packets WHERE id = ${id}`,
  );
  const further = await database.query<GeoidRow>(
    sql`SELECT packet_id AS id, geoid FROM packet_geoids WHERE packet_id = ${id}`,
  );
  const attachments = await database.query<AttachmentRow>(sql`
    SELECT packet_id AS id, attachment_id AS "attachmentId", thread_id AS "threadId"
    FROM packet_attachments WHERE packet_id = ${id}`);
  return joinCopies(packets.rows, further.rows, attachments.rows).packets[0];
}

/** The packets of a range, and what refers to packets that are not there. */
export interface RangeOfCopies {
  packets: PacketCopies[];
  /** ids of packets that only packet_geoids knows */
  strayGeoids: string[];
  /** the same for packet_attachments */
  strayAttachments: string[];
}

/**
 * The packets of a range in the order of their ids, each with everything that is stored beside its sections. All
 * statements are sent at once.
 *
 * @param largest bytes of Header and Body beyond which they are left empty, to be read by {@link findSections}
 */
export async function findCopiesBetween(
  database: Database,
  range: IdRange,
  largest: number,
): Promise<RangeOfCopies & { large: string[] }> {
  const small = sql`octet_length(header) + octet_length(body) <= ${largest}`;
  const [packets, further, attachments] = await Promise.all([
    database.query<Row & { large: boolean }>(sql`
      SELECT ${COLUMNS}, CASE WHEN ${small} THEN header ELSE '' END AS header,
        CASE WHEN ${small} THEN body ELSE '' END AS body, footer, NOT (${small}) AS large
      FROM packets WHERE ${inRange(sql`id`, range)} ORDER BY id`),
    database.query<GeoidRow>(sql`
      SELECT packet_id AS id, geoid FROM packet_geoids WHERE ${inRange(sql`packet_id`, range)}`),
    database.query<AttachmentRow>(sql`
      SELECT packet_id AS id, attachment_id AS "attachmentId", thread_id AS "threadId"
      FROM packet_attachments WHERE ${inRange(sql`packet_id`, range)}`),
  ]);
  const large = packets.rows.filter(row => row.large).map(({ id }) => id);
  return { ...joinCopies(packets.rows, further.rows, attachments.rows), large };
}

/** Header and Body of one packet (id in the uuid form). */
export async function findSections(
  database: Database,
  id: string,
): Promise<Pick<Sections, 'header' | 'body'>> {
  const { rows } = await database.query<Pick<Sections, 'header' | 'body'>>(
    sql`SELECT header, body FROM packets WHERE id = ${id}`,
  );
  return rows[0] as Pick<Sections, 'header' | 'body'>;
}

function joinCopies(packets: Row[], further: GeoidRow[], attachments: AttachmentRow[]): RangeOfCopies {
  const byId = new Map<string, PacketCopies>();
  for (const row of packets) {
    const cell = row.cell === null ? null : Number(row.cell);
    byId.set(row.id, { ...row, cell, additionalGeoids: [], attachments: [] });
  }
  const strayGeoids = new Set<string>();
  for (const { id, geoid } of further) {
    const packet = byId.get(id);
    if (packet) packet.additionalGeoids.push(geoid);
    else strayGeoids.add(id);
  }
  const strayAttachments = new Set<string>();
  for (const { id, attachmentId, threadId } of attachments) {
    const packet = byId.get(id);
    if (packet) packet.attachments.push({ id: attachmentId, threadId });
    else strayAttachments.add(id);
  }
  return {
    packets: [...byId.values()],
    strayGeoids: [...strayGeoids],
    strayAttachments: [...strayAttachments],
  };
}

/** The packets with these ids (uuid form) that are stored and not erased, with the thread and time of messages. */
export async function findMessagePositions(
  database: Database,
  ids: readonly string[],
): Promise<{ id: string; threadId: string | null; ts: string }[]> {
  const { rows } = await database.query<{ id: string; threadId: string | null; ts: string }>(sql`
    SELECT id, thread_id AS "threadId", ts::text FROM packets
    WHERE id = ANY (${ids}::uuid[]) AND erased_at IS NULL`);
  return rows;
}
