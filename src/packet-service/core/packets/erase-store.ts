import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** A packet as an erasure needs it; ids in the uuid form. */
export interface ErasablePacket {
  id: string;
  threadId: string | null;
  closed: boolean;
  author: string | null;
  geoid: string;
  additionalGeoids: string[];
  attachmentIds: string[];
  /** in full precision */
  ts: string;
  footer: string;
  erasedAt: Date | null;
}

export async function findErasable(database: Database, id: string): Promise<ErasablePacket | undefined> {
  const { rows } = await database.query<Omit<ErasablePacket, 'additionalGeoids' | 'attachmentIds'>>(sql`
    SELECT id, thread_id AS "threadId", closed IS TRUE AS closed, author, geoid, ts::text, footer,
      erased_at AS "erasedAt"
    FROM packets WHERE id = ${id}`);
  const [row] = rows;
  if (!row) return undefined;
  const further = await database.query<{ geoid: string }>(
    sql`SELECT geoid FROM packet_geoids WHERE packet_id = ${id}`,
  );
  const attachments = await database.query<{ id: string }>(
    sql`SELECT attachment_id AS id FROM packet_attachments WHERE packet_id = ${id}`,
  );
  return {
    ...row,
    additionalGeoids: further.rows.map(({ geoid }) => geoid),
    attachmentIds: attachments.rows.map(attachment => attachment.id),
  };
}

/**
 * The condition that a packet `p` was not erased. The second half never decides; without it, PostgreSQL assumes until
 * the table's first ANALYZE that hardly any row matches, and sorts all packets for each page.
 */
export const NOT_ERASED = "(p.erased_at IS NULL OR p.body <> '{}')";

/**
 * Removes everything of a packet except Header, hash, and what decides who may read it. The Body becomes an empty
 * object, which every reader of rows can parse.
 */
export async function eraseSections(
  database: Database,
  id: string,
  { hash, now }: { hash: string; now: Date },
): Promise<void> {
  await database.query(sql`DELETE FROM packet_geoids WHERE packet_id = ${id}`);
  await database.query(sql`DELETE FROM packet_attachments WHERE packet_id = ${id}`);
  await database.query(sql`
    UPDATE packets SET body = '{}', footer = ${JSON.stringify({ hash })}, lat = NULL, lon = NULL, cell = NULL,
      author = NULL, erased_at = ${now}
    WHERE id = ${id}`);
}
