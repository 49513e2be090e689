import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** Which of these attachments (uuid form) packets refer to. */
export async function findReferenced(
  database: Database,
  attachmentIds: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT DISTINCT attachment_id AS id FROM packet_attachments
    WHERE attachment_id = ANY (${attachmentIds}::uuid[])`);
  return rows.map(({ id }) => id);
}

/** The claim of the first packet that refers to an attachment (uuid form); undefined if there is none. */
export async function findClaim(
  database: Database,
  attachmentId: string,
): Promise<{ author: string | null; sha256: string | null } | undefined> {
  const { rows } = await database.query<{ author: string | null; sha256: string | null }>(sql`
    SELECT author, encode(sha256, 'hex') AS sha256 FROM attachment_claims WHERE attachment_id = ${attachmentId}`);
  return rows[0];
}

/** Whether a packet outside chat, or a message of one of these threads, refers to an attachment (uuid forms). */
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

/** The packets that refer to an attachment (uuid forms): `limit` of them, in no order. */
export async function findCarriers(
  database: Database,
  attachmentId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT packet_id AS id FROM packet_attachments WHERE attachment_id = ${attachmentId} LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** Removes the claims of attachments (uuid form), for an erasure. */
export async function forgetClaims(database: Database, attachmentIds: readonly string[]): Promise<void> {
  await database.query(sql`
    UPDATE attachment_claims SET author = NULL, sha256 = NULL WHERE attachment_id = ANY (${attachmentIds}::uuid[])`);
}
