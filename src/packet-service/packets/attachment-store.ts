import sql from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';

/** Those of these attachments (uuid form) that a packet names. */
export async function findReferenced(
  database: Database,
  attachmentIds: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT DISTINCT attachment_id AS id FROM packet_attachments
    WHERE attachment_id = ANY (${attachmentIds}::uuid[])`);
  return rows.map(({ id }) => id);
}

/** Whether a packet outside chat, or a message of one of these threads, names an attachment (uuid forms). */
export async function isCarriedIn(
  database: Database,
  attachmentId: string,
  threadIds: readonly string[],
): Promise<boolean> {
  const { rows } = await database.query(sql`
    SELECT 1 FROM packet_attachments
    WHERE attachment_id = ${attachmentId} AND (thread_id IS NULL OR thread_id = ANY (${threadIds}::uuid[]))
    LIMIT 1`);
  return rows.length > 0;
}

/** The packets that name an attachment (uuid forms): `limit` of them, in no order. */
export async function findCarriers(
  database: Database,
  attachmentId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT packet_id AS id FROM packet_attachments WHERE attachment_id = ${attachmentId} LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}
