import sql, { empty } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';

/** The status of a share. */
export type ShareStatus = 'pending' | 'accepted' | 'rejected';

/** The key of a share: packet, sender, contact, and whether the sender has proven by a token who they are. */
export interface ShareKey {
  /** uuid form */
  packetId: string;
  fromUser: string;
  /** in the form of `readContact` */
  contact: string;
  /** the user of the token of the request */
  author: string | null;
}

/** A share, or an invitation: a share without a recipient yet. */
export interface Share extends ShareKey {
  /** uuid form */
  shareId: string;
  toUser: string | null;
  status: ShareStatus | 'invited';
  createdAt: Date;
}

const SHARE = sql`share_id AS "shareId", packet_id AS "packetId", from_user AS "fromUser", contact,
  to_user AS "toUser", status, created_at AS "createdAt", author`;

export async function findShare(database: Database, key: ShareKey): Promise<Share | undefined> {
  const { packetId, fromUser, contact, author } = key;
  const { rows } = await database.query<Share>(sql`
    SELECT ${SHARE} FROM shares
    WHERE packet_id = ${packetId} AND from_user = ${fromUser} AND contact = ${contact}
      AND (author IS NULL) = ${author === null}`);
  return rows[0];
}

export async function insertShare(database: Database, share: Share): Promise<void> {
  const { shareId, packetId, fromUser, contact, toUser, status, createdAt, author } = share;
  await database.query(sql`
    INSERT INTO shares (share_id, packet_id, from_user, contact, to_user, status, created_at, author)
    VALUES (${shareId}, ${packetId}, ${fromUser}, ${contact}, ${toUser}, ${status}, ${createdAt}, ${author})`);
}

/** Records that an invitation is sent again. */
export async function renewInvitation(database: Database, shareId: string, now: Date): Promise<void> {
  await database.query(
    sql`UPDATE shares SET created_at = ${now} WHERE share_id = ${shareId} AND status = 'invited'`,
  );
}

/** How many invitations were sent to a contact since a time, with tokens or without. */
export async function countInvitations(
  database: Database,
  { contact, author }: Pick<ShareKey, 'contact' | 'author'>,
  since: Date,
): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::integer AS count FROM shares
    WHERE contact = ${contact} AND status = 'invited' AND created_at > ${since} AND (author IS NULL) = ${author === null}`);
  return rows[0]?.count ?? 0;
}

/**
 * The share or invitation of a sender that so many newer ones follow; undefined if there are fewer. The time at which it
 * was made is in its id.
 *
 * @param since the first id that counts (uuid form)
 * @param count at least 1
 */
export async function findNth(
  database: Database,
  { fromUser, author }: Pick<ShareKey, 'fromUser' | 'author'>,
  since: string,
  count: number,
): Promise<string | undefined> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT share_id AS id FROM shares
    WHERE from_user = ${fromUser} AND share_id >= ${since} AND (author IS NULL) = ${author === null}
    ORDER BY share_id DESC OFFSET ${count - 1} LIMIT 1`);
  return rows[0]?.id;
}

/** The newest invitations to a contact, newest first. */
export async function listInvitations(database: Database, contact: string, limit: number): Promise<Share[]> {
  const { rows } = await database.query<Share>(sql`
    SELECT ${SHARE} FROM shares WHERE contact = ${contact} AND status = 'invited'
    ORDER BY created_at DESC, share_id DESC LIMIT ${limit}`);
  return rows;
}

/**
 * Sets the recipient of invitations to a contact. Returns the resulting shares.
 *
 * @param to invitations: open: only those created without a token
 */
export async function giveInvitations(
  database: Database,
  { contact, userId, invitations }: { contact: string; userId: string; invitations: 'all' | 'open' | 'none' },
  now: Date,
): Promise<Share[]> {
  const { rows } = await database.query<Share>(sql`
    UPDATE shares SET to_user = ${userId}, status = 'pending', created_at = ${now}
    WHERE contact = ${contact} AND status = 'invited'
      AND (${invitations === 'all'} OR (${invitations === 'open'} AND author IS NULL))
    RETURNING ${SHARE}`);
  return rows;
}

/** Sets the recipient of one invitation; undefined if it is none any more. */
export async function giveInvitation(
  database: Database,
  { shareId, userId }: { shareId: string; userId: string },
  now: Date,
): Promise<Share | undefined> {
  const { rows } = await database.query<Share>(sql`
    UPDATE shares SET to_user = ${userId}, status = 'pending', created_at = ${now}
    WHERE share_id = ${shareId} AND status = 'invited' RETURNING ${SHARE}`);
  return rows[0];
}

/** Whether somebody with a token has invited a contact. */
export async function hasClosedInvitation(database: Database, contact: string): Promise<boolean> {
  const { rows } = await database.query(sql`
    SELECT 1 FROM shares WHERE contact = ${contact} AND status = 'invited' AND author IS NOT NULL LIMIT 1`);
  return rows.length > 0;
}

export async function findShareById(database: Database, shareId: string): Promise<Share | undefined> {
  const { rows } = await database.query<Share>(sql`SELECT ${SHARE} FROM shares WHERE share_id = ${shareId}`);
  return rows[0];
}

/** Which of the shares or invitations that notifications of a type are about still wait for an answer. */
export async function findUnanswered(
  database: Database,
  type: 'share.created' | 'invitation.sent',
  shareIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const status = type === 'share.created' ? 'pending' : 'invited';
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT share_id AS id FROM shares WHERE share_id = ANY (${shareIds}::uuid[]) AND status = ${status}`);
  return new Set(rows.map(({ id }) => id));
}

/** Whether one of these packets was shared with a user, who has not rejected it. */
export async function isSharedWith(
  database: Database,
  packetIds: readonly string[],
  userId: string,
): Promise<boolean> {
  const { rows } = await database.query(sql`
    SELECT 1 FROM shares
    WHERE packet_id = ANY (${packetIds}::uuid[]) AND to_user = ${userId} AND status <> 'rejected' LIMIT 1`);
  return rows.length > 0;
}

/** Selects the users, of some, who have shared something with a user with a token. */
export async function findSharers(
  database: Database,
  userId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT DISTINCT from_user AS id FROM shares
    WHERE to_user = ${userId} AND from_user = ANY (${ids}::text[]) AND author = from_user`);
  return rows.map(({ id }) => id);
}

/**
 * A user's newest shares and invitations of a packet, newest first.
 *
 * @param of openOnly: only those created without a token
 */
export async function listSent(
  database: Database,
  { packetId, fromUser, openOnly }: { packetId: string; fromUser: string; openOnly: boolean },
  limit: number,
): Promise<Share[]> {
  const { rows } = await database.query<Share>(sql`
    SELECT ${SHARE} FROM shares
    WHERE packet_id = ${packetId} AND from_user = ${fromUser} ${openOnly ? sql`AND author IS NULL` : empty}
    ORDER BY created_at DESC, share_id DESC LIMIT ${limit}`);
  return rows;
}

/** Users with whom a packet (uuid form) was shared, and whether only with tokens. */
export async function findRecipients(
  database: Database,
  packetId: string,
): Promise<{ userId: string; closed: boolean }[]> {
  const { rows } = await database.query<{ userId: string; closed: boolean }>(sql`
    SELECT to_user AS "userId", bool_and(author IS NOT NULL) AS closed FROM shares
    WHERE packet_id = ${packetId} AND to_user IS NOT NULL GROUP BY to_user`);
  return rows;
}

/** Sets the recipient's decision on a pending share; returns whether it was pending. */
export async function decideShare(
  database: Database,
  shareId: string,
  status: 'accepted' | 'rejected',
): Promise<boolean> {
  const { rowCount } = await database.query(
    sql`UPDATE shares SET status = ${status} WHERE share_id = ${shareId} AND status = 'pending'`,
  );
  return rowCount === 1;
}

/**
 * A user's shares, newest first, after one of them.
 *
 * @param of openOnly: only those created without a token
 */
export async function listShares(
  database: Database,
  { userId, status, openOnly }: { userId: string; status?: ShareStatus | undefined; openOnly: boolean },
  { after, limit }: { after?: InboxPosition | undefined; limit: number },
): Promise<InboxRow[]> {
  const { rows } = await database.query<InboxRow>(sql`
    SELECT ${SHARE}, created_at::text AS at FROM shares
    WHERE to_user = ${userId} ${status ? sql`AND status = ${status}` : empty}
      ${openOnly ? sql`AND author IS NULL` : empty}
      ${after ? sql`AND (created_at, share_id) < (${after.at}::timestamptz, ${after.shareId}::uuid)` : empty}
    ORDER BY created_at DESC, share_id DESC LIMIT ${limit}`);
  return rows;
}

/** The position of a share in the order of an inbox. */
export interface InboxPosition {
  /** in full precision, as PostgreSQL writes it */
  at: string;
  /** uuid form */
  shareId: string;
}

export type InboxRow = Share & InboxPosition;

/** The position of a share in a user's inbox; undefined if it is not in it. */
export async function findInboxPosition(
  database: Database,
  shareId: string,
  userId: string,
): Promise<InboxPosition | undefined> {
  const { rows } = await database.query<InboxPosition>(sql`
    SELECT created_at::text AS at, share_id AS "shareId" FROM shares
    WHERE share_id = ${shareId} AND to_user = ${userId}`);
  return rows[0];
}

/** Stores an invitation's token; deletes some expired ones. */
export async function insertInvitationToken(
  database: Database,
  { hash, contact, expiresAt }: { hash: Buffer; contact: string; expiresAt: Date },
  now: Date,
): Promise<void> {
  await database.query(sql`
    DELETE FROM invitation_tokens WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM invitation_tokens WHERE expires_at < ${now} LIMIT 100 FOR UPDATE SKIP LOCKED))`);
  await database.query(sql`
    INSERT INTO invitation_tokens (token_hash, contact, expires_at) VALUES (${hash}, ${contact}, ${expiresAt})`);
}

/** Finds the expiry of a token, and the contact that it proves; undefined if it is not valid. */
export async function findToken(
  database: Database,
  hash: Buffer,
  now: Date,
): Promise<{ expiresAt: Date; contact: string } | undefined> {
  const { rows } = await database.query<{ expiresAt: Date; contact: string }>(
    sql`SELECT expires_at AS "expiresAt", contact FROM invitation_tokens WHERE token_hash = ${hash} AND expires_at > ${now}`,
  );
  return rows[0];
}

/** The contact that a token proves; undefined if the token is not valid. */
export async function findTokenContact(
  database: Database,
  hash: Buffer,
  now: Date,
): Promise<string | undefined> {
  const { rows } = await database.query<{ contact: string }>(
    sql`SELECT contact FROM invitation_tokens WHERE token_hash = ${hash} AND expires_at > ${now}`,
  );
  return rows[0]?.contact;
}

/** Uses up all tokens of a contact; returns whether this one was among them. */
export async function takeTokens(database: Database, contact: string, hash: Buffer): Promise<boolean> {
  const { rows } = await database.query<{ hash: Buffer }>(
    sql`DELETE FROM invitation_tokens WHERE contact = ${contact} RETURNING token_hash AS hash`,
  );
  return rows.some(row => row.hash.equals(hash));
}
