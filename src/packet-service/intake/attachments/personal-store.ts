import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** A file that a user uploaded. */
export interface PersonalAttachment {
  attachmentId: string;
  /** lowercase hex */
  sha256: string;
  size: string;
  contentType: string;
  name: string;
  uploadedAt: Date;
}

export function attachmentsBy(userId: string): pg.QueryConfig {
  return sql`
    SELECT attachment_id AS "attachmentId", encode(sha256, 'hex') AS sha256, size, content_type AS "contentType", name,
      uploaded_at AS "uploadedAt"
    FROM attachments WHERE user_id = ${userId} ORDER BY attachment_id`;
}

/** Uploads that a user has begun and not completed. */
export function uploadsBy(userId: string): pg.QueryConfig {
  return sql`
    SELECT upload_id AS "uploadId", name, length, received, created_at AS "createdAt" FROM attachment_uploads
    WHERE user_id = ${userId} ORDER BY upload_id`;
}

/** Some of a user's attachments (uuid form) not known to be referenced by a packet, larger ids first. */
export async function findUnreferencedBy(
  database: Database,
  userId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT attachment_id AS id FROM attachments
    WHERE user_id = ${userId} AND NOT referenced AND attachment_id > ${after}::uuid
    ORDER BY attachment_id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** Some of a user's uploads. */
export async function findUploadsBy(database: Database, userId: string, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT upload_id AS id FROM attachment_uploads WHERE user_id = ${userId} ORDER BY upload_id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}
