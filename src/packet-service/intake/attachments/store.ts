import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** A file that was uploaded. */
export interface Attachment {
  /** uuid form of the ULID behind att_ */
  attachmentId: string;
  /** lowercase hex */
  sha256: string;
  /** bytes */
  size: number;
  /** media type, detected from its first bytes */
  contentType: string;
  /** file name given by the client */
  name: string;
  /** who uploaded it; null without a token */
  userId: string | null;
  uploadedAt: Date;
}

type Row = Omit<Attachment, 'sha256' | 'size'> & { sha256: Buffer; size: string };

const ATTACHMENT = sql`attachment_id AS "attachmentId", sha256, size, content_type AS "contentType", name,
  user_id AS "userId", uploaded_at AS "uploadedAt"`;

function asAttachment({ sha256, size, ...rest }: Row): Attachment {
  return { ...rest, sha256: sha256.toString('hex'), size: Number(size) };
}

/** Attachments by id (uuid form), in no order; missing ones are left out. */
export async function findAttachments(
  database: Database,
  attachmentIds: readonly string[],
): Promise<Attachment[]> {
  const { rows } = await database.query<Row>(
    sql`SELECT ${ATTACHMENT} FROM attachments WHERE attachment_id = ANY (${attachmentIds}::uuid[])`,
  );
  return rows.map(asAttachment);
}

/** Stores an attachment, unless its id is taken; waits for a transaction that is taking it. Returns whether it did. */
export async function insertAttachment(database: Database, attachment: Attachment): Promise<boolean> {
  const { attachmentId, sha256, size, contentType, name, userId, uploadedAt } = attachment;
  const { rowCount } = await database.query(sql`
    INSERT INTO attachments (attachment_id, sha256, size, content_type, name, user_id, uploaded_at)
    VALUES (${attachmentId}, ${Buffer.from(sha256, 'hex')}, ${size}, ${contentType}, ${name}, ${userId}, ${uploadedAt})
    ON CONFLICT DO NOTHING`);
  return rowCount === 1;
}

/** Announces that a content is about to be written to the file store; waits for a sweep that is removing it. */
export async function announceContent(database: Database, sha256: string, now: Date): Promise<void> {
  await database.query(sql`
    INSERT INTO attachment_contents (sha256, unused_since) VALUES (${Buffer.from(sha256, 'hex')}, ${now})
    ON CONFLICT (sha256) DO UPDATE SET unused_since = excluded.unused_since`);
}

/** Marks an announced content as used; returns false if it has been removed since. */
export async function useContent(database: Database, sha256: string): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE attachment_contents SET unused_since = NULL WHERE sha256 = ${Buffer.from(sha256, 'hex')}`);
  return rowCount === 1;
}

/** Some attachments (uuid form) that were uploaded before a time and are not known to be referenced by a packet. */
export async function findUnreferenced(database: Database, before: Date, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT attachment_id AS id FROM attachments WHERE NOT referenced AND uploaded_at < ${before}
    ORDER BY uploaded_at, attachment_id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

export async function markReferenced(database: Database, attachmentIds: readonly string[]): Promise<void> {
  await database.query(sql`
    UPDATE attachments SET referenced = true WHERE attachment_id = ANY (${attachmentIds}::uuid[])`);
}

/** Marks attachments to be checked again before they expire: a packet no longer refers to them. */
export async function markUnreferenced(database: Database, attachmentIds: readonly string[]): Promise<void> {
  await database.query(sql`
    UPDATE attachments SET referenced = false WHERE attachment_id = ANY (${attachmentIds}::uuid[])`);
}

/** Removes attachments; their contents become unused unless another attachment has them. */
export async function deleteAttachments(
  database: Database,
  attachmentIds: readonly string[],
  now: Date,
): Promise<void> {
  await database.query(sql`
    WITH gone AS (
      DELETE FROM attachments WHERE attachment_id = ANY (${attachmentIds}::uuid[]) RETURNING sha256
    )
    UPDATE attachment_contents SET unused_since = ${now} WHERE sha256 IN (SELECT sha256 FROM gone)`);
}

/**
 * Locks, until the end of the transaction, one content that has been unused since before a time and is not locked.
 *
 * @returns whether an attachment uses it after all; undefined if the content is unknown
 */
export async function takeUnusedContent(
  database: Database,
  before: Date,
): Promise<{ sha256: string; used: boolean } | undefined> {
  const { rows } = await database.query<{ sha256: Buffer }>(sql`
    SELECT sha256 FROM attachment_contents WHERE unused_since < ${before}
    ORDER BY unused_since LIMIT 1 FOR UPDATE SKIP LOCKED`);
  const [taken] = rows;
  if (!taken) return undefined;
  // A separate statement, so that it sees what was committed before the row was locked.
  const { rows: users } = await database.query(
    sql`SELECT 1 FROM attachments WHERE sha256 = ${taken.sha256} LIMIT 1`,
  );
  return { sha256: taken.sha256.toString('hex'), used: users.length > 0 };
}

/** Locks one content until the end of the transaction; returns whether an attachment uses it. */
export async function takeContent(
  database: Database,
  sha256: string,
): Promise<{ used: boolean } | undefined> {
  const bytes = Buffer.from(sha256, 'hex');
  const { rowCount } = await database.query(
    sql`SELECT 1 FROM attachment_contents WHERE sha256 = ${bytes} FOR UPDATE`,
  );
  if (rowCount === 0) return undefined;
  const { rowCount: users } = await database.query(
    sql`SELECT 1 FROM attachments WHERE sha256 = ${bytes} LIMIT 1`,
  );
  return { used: users === 1 };
}

export async function deleteContent(database: Database, sha256: string): Promise<void> {
  await database.query(sql`DELETE FROM attachment_contents WHERE sha256 = ${Buffer.from(sha256, 'hex')}`);
}
