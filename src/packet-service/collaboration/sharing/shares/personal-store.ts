import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import type { Share } from './store.ts';

export type PersonalShare = Omit<Share, 'author'>;

/** The contact of a share whose recipient has erased their account. @param shareId uuid form */
export const erasedContact = (shareId: string) => `erased ${shareId}`;

/** The shares by and with a user. */
export function sharesOf(userId: string): pg.QueryConfig {
  return sql`
    SELECT share_id AS "shareId", packet_id AS "packetId", from_user AS "fromUser", contact, to_user AS "toUser",
      status, created_at AS "createdAt"
    FROM shares WHERE from_user = ${userId} OR author = ${userId} OR to_user = ${userId} ORDER BY share_id`;
}

/**
 * Deletes the contacts by which a user was found, and pending invitations to the user's contacts or by the user.
 * Shares stay, so that access to packets does not change.
 */
export async function eraseContacts(
  database: Database,
  userId: string,
  contacts: readonly string[],
): Promise<void> {
  await database.query(sql`
    DELETE FROM shares WHERE status = 'invited' AND (contact = ANY (${contacts}::text[]) OR from_user = ${userId})`);
  await database.query(sql`DELETE FROM invitation_tokens WHERE contact = ANY (${contacts}::text[])`);
  await database.query(sql`UPDATE shares SET contact = 'erased ' || share_id WHERE to_user = ${userId}`);
}
