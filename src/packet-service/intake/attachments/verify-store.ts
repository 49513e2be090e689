import sql, { empty } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** A content that attachments have, and what their rows say of it. */
export interface UsedContent {
  /** lowercase hex */
  sha256: string;
  /** bytes */
  size: number;
  /** how many attachments have it */
  attachments: number;
  /** one of them, uuid form */
  attachmentId: string;
  /** whether all of them say the same size */
  oneSize: boolean;
  /** whether there is the row by which the sweep knows it */
  known: boolean;
}

type Row = Omit<UsedContent, 'sha256' | 'size'> & { sha256: Buffer; size: string };

/** The contents of attachments in the order of their hashes, after one of them (lowercase hex). */
export async function listContents(
  database: Database,
  after: string | undefined,
  limit: number,
): Promise<UsedContent[]> {
  const { rows } = await database.query<Row>(sql`
    SELECT sha256, min(size) AS size, min(size) = max(size) AS "oneSize", count(*)::int AS attachments,
      (array_agg(attachment_id))[1] AS "attachmentId",
      EXISTS (SELECT FROM attachment_contents AS content WHERE content.sha256 = attachments.sha256) AS known
    FROM attachments ${after === undefined ? empty : sql`WHERE sha256 > ${Buffer.from(after, 'hex')}`}
    GROUP BY sha256 ORDER BY sha256 LIMIT ${limit}`);
  return rows.map(row => ({ ...row, sha256: row.sha256.toString('hex'), size: Number(row.size) }));
}

/** Whether an attachment has a content (lowercase hex). */
export async function isUsed(database: Database, sha256: string): Promise<boolean> {
  const { rowCount } = await database.query(
    sql`SELECT 1 FROM attachments WHERE sha256 = ${Buffer.from(sha256, 'hex')} LIMIT 1`,
  );
  return rowCount === 1;
}

/** The attachments (uuid form) that have a content (lowercase hex): `limit` of them, in no order. */
export async function findAttachmentsOf(
  database: Database,
  sha256: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT attachment_id AS id FROM attachments WHERE sha256 = ${Buffer.from(sha256, 'hex')} LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}
