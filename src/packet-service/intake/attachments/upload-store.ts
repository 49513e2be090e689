import sql, { empty } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** A resumable upload: a file of which the first bytes are stored. */
export interface Upload {
  uploadId: string;
  /** uuid form of the attachment it becomes */
  attachmentId: string;
  /** who may continue it; null for anyone who has its address */
  userId: string | null;
  name: string;
  /** Upload-Metadata as sent */
  metadata: string;
  /** bytes of the whole file; undefined until the client sends it */
  length: number | undefined;
  /** bytes received */
  received: number;
  /** ids of the stored pieces, in order; none once the attachment is stored */
  pieces: string[];
  createdAt: Date;
}

type Row = Omit<Upload, 'length' | 'received'> & { length: string | null; received: string };

export async function insertUpload(database: Database, upload: Upload): Promise<void> {
  const { uploadId, attachmentId, userId, name, metadata, length, createdAt } = upload;
  await database.query(sql`
    INSERT INTO attachment_uploads (upload_id, attachment_id, user_id, name, metadata, length, created_at)
    VALUES (${uploadId}, ${attachmentId}, ${userId}, ${name}, ${metadata}, ${length ?? null}, ${createdAt})`);
}

/** An upload that was begun after a moment. */
export async function findUpload(
  database: Database,
  uploadId: string,
  after: Date,
): Promise<Upload | undefined> {
  const { rows } = await database.query<Row>(sql`
    SELECT upload_id AS "uploadId", attachment_id AS "attachmentId", user_id AS "userId", name, metadata, length,
      received, pieces, created_at AS "createdAt"
    FROM attachment_uploads WHERE upload_id = ${uploadId} AND created_at > ${after}`);
  const [row] = rows;
  if (!row) return undefined;
  const { length, received } = row;
  return { ...row, length: length === null ? undefined : Number(length), received: Number(received) };
}

/**
 * Sets the length of an upload that has none and still ends at `offset`, before the end of the file: an upload with
 * all of its bytes is complete, which only `completeUpload` records.
 */
export async function declareLength(
  database: Database,
  { uploadId, offset, length }: { uploadId: string; offset: number; length: number },
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE attachment_uploads SET length = ${length}
    WHERE upload_id = ${uploadId} AND length IS NULL AND received = ${offset} AND received < ${length}`);
  return rowCount === 1;
}

/**
 * Adds a piece to an upload that still ends at `offset`, unless it completes the file. Of several writers with bytes
 * from there, in any process, one succeeds: the statement acts as a lock that no process can die holding.
 */
export async function appendPiece(
  database: Database,
  { uploadId, offset, piece, size }: { uploadId: string; offset: number; piece: string; size: number },
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE attachment_uploads SET received = received + ${size}, pieces = pieces || ${piece}::uuid
    WHERE upload_id = ${uploadId} AND received = ${offset} AND (length IS NULL OR received + ${size} < length)`);
  return rowCount === 1;
}

/** Marks an upload that still ends at `offset` as complete. */
export async function completeUpload(
  database: Database,
  { uploadId, offset, length }: { uploadId: string; offset: number; length: number },
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE attachment_uploads SET length = ${length}, received = ${length}, pieces = '{}'
    WHERE upload_id = ${uploadId} AND received = ${offset} AND (length IS NULL OR length = ${length})`);
  return rowCount === 1;
}

export async function deleteUpload(database: Database, uploadId: string): Promise<void> {
  await database.query(sql`DELETE FROM attachment_uploads WHERE upload_id = ${uploadId}`);
}

/**
 * Deletes the unfinished uploads of these attachments (uuid form): those of a user, and those begun without a token.
 * Without a user all of them.
 *
 * @returns their ids
 */
export async function deleteUploadsOf(
  database: Database,
  attachmentIds: readonly string[],
  userId: string | null,
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    DELETE FROM attachment_uploads WHERE attachment_id = ANY (${attachmentIds}::uuid[])
      ${userId === null ? empty : sql`AND (user_id IS NULL OR user_id = ${userId})`}
    RETURNING upload_id AS id`);
  return rows.map(({ id }) => id);
}

/** Some uploads that were begun before a time. */
export async function findExpiredUploads(database: Database, before: Date, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT upload_id AS id FROM attachment_uploads WHERE created_at < ${before} ORDER BY created_at LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}
