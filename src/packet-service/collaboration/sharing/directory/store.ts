import sql from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import { HASHED_LOCKS } from '../../../../platform/database/locks/advisory-locks.ts';

/** The user who has a contact, and whether they want to be found. */
export interface Holder {
  userId: string;
  discoverable: boolean;
}

/** A user's entry in the directory. */
export interface Entry {
  userId: string;
  discoverable: boolean;
  /** in the form of `readContact`, in their order */
  contacts: { contact: string; confirmed: boolean }[];
}

/**
 * Locks contacts until the end of the transaction: who has them, and whether a share or an invitation is created.
 * Always in the same order, so that transactions never deadlock.
 */
export async function lockContacts(database: Database, contacts: readonly string[]): Promise<void> {
  await database.query(sql`
    SELECT pg_advisory_xact_lock(key) FROM (
      SELECT DISTINCT hashtextextended(${HASHED_LOCKS.contact} || contact, 0) AS key
      FROM unnest(${contacts}::text[]) AS contact ORDER BY key) AS keys`);
}

/** The user who has a contact; undefined if nobody has confirmed it. */
export async function findHolder(database: Database, contact: string): Promise<Holder | undefined> {
  const { rows } = await database.query<Holder>(sql`
    SELECT user_id AS "userId", discoverable FROM directory_contacts JOIN directory_users USING (user_id)
    WHERE contact = ${contact} AND confirmed_at IS NOT NULL`);
  return rows[0];
}

/** Of these contacts, the first that belongs to another user. */
export async function findOthersContact(
  database: Database,
  userId: string,
  contacts: readonly string[],
): Promise<string | undefined> {
  const { rows } = await database.query<{ contact: string }>(sql`
    SELECT contact FROM directory_contacts
    WHERE contact = ANY (${contacts}::text[]) AND confirmed_at IS NOT NULL AND user_id <> ${userId}
    ORDER BY contact LIMIT 1`);
  return rows[0]?.contact;
}

export async function findEntry(database: Database, userId: string): Promise<Entry | undefined> {
  const { rows } = await database.query<{
    discoverable: boolean;
    contact: string | null;
    confirmed: boolean;
  }>(sql`
    SELECT discoverable, contact, confirmed_at IS NOT NULL AS confirmed
    FROM directory_users LEFT JOIN directory_contacts USING (user_id)
    WHERE user_id = ${userId} ORDER BY contact`);
  if (!rows[0]) return undefined;
  const contacts = rows.flatMap(({ contact, confirmed }) =>
    contact === null ? [] : [{ contact, confirmed }],
  );
  return { userId, discoverable: rows[0].discoverable, contacts };
}

/**
 * Replaces a user's entry. Confirmed contacts stay confirmed.
 *
 * @param confirmedAt when the contacts were confirmed; null if they are not yet
 */
export async function putEntry(
  database: Database,
  entry: { userId: string; discoverable: boolean; contacts: readonly string[] },
  confirmedAt: Date | null,
  now: Date,
): Promise<void> {
  const { userId, discoverable, contacts } = entry;
  await database.query(sql`
    INSERT INTO directory_users (user_id, discoverable, updated_at) VALUES (${userId}, ${discoverable}, ${now})
    ON CONFLICT (user_id) DO UPDATE SET discoverable = excluded.discoverable, updated_at = excluded.updated_at`);
  await database.query(sql`
    DELETE FROM directory_contacts WHERE user_id = ${userId} AND contact <> ALL (${contacts}::text[])`);
  await database.query(sql`
    INSERT INTO directory_contacts (user_id, contact, confirmed_at)
    SELECT ${userId}, contact, ${confirmedAt}::timestamptz FROM unnest(${contacts}::text[]) AS contact
    ON CONFLICT (user_id, contact)
      DO UPDATE SET confirmed_at = coalesce(directory_contacts.confirmed_at, excluded.confirmed_at)`);
}

/** Returns whether there was an entry. */
export async function deleteEntry(database: Database, userId: string): Promise<boolean> {
  await database.query(sql`DELETE FROM directory_confirmations WHERE user_id = ${userId}`);
  const { rowCount } = await database.query(sql`DELETE FROM directory_users WHERE user_id = ${userId}`);
  return rowCount === 1;
}

/**
 * Assigns a proven contact to a user; a previous owner loses it, as with an address or number that was reassigned.
 * The caller holds the contact's lock.
 *
 * @param addUnlisted also if the user has not listed it; otherwise they must still list it
 * @returns whether it was assigned
 */
export async function giveContact(
  database: Database,
  { userId, contact }: { userId: string; contact: string },
  now: Date,
  { addUnlisted }: { addUnlisted: boolean },
): Promise<boolean> {
  await database.query(sql`
    DELETE FROM directory_contacts
    WHERE contact = ${contact} AND confirmed_at IS NOT NULL AND user_id <> ${userId}`);
  if (addUnlisted) {
    await database.query(sql`
      INSERT INTO directory_users (user_id, discoverable, updated_at) VALUES (${userId}, true, ${now})
      ON CONFLICT (user_id) DO UPDATE SET discoverable = true, updated_at = excluded.updated_at`);
    await database.query(sql`
      INSERT INTO directory_contacts (user_id, contact) VALUES (${userId}, ${contact}) ON CONFLICT DO NOTHING`);
  }
  const { rowCount } = await database.query(sql`
    UPDATE directory_contacts SET confirmed_at = coalesce(confirmed_at, ${now}::timestamptz)
    WHERE user_id = ${userId} AND contact = ${contact}`);
  return rowCount === 1;
}

/** Stores a confirmation token; deletes some expired ones. */
export async function insertConfirmation(
  database: Database,
  confirmation: { hash: Buffer; userId: string; contact: string; expiresAt: Date },
  now: Date,
): Promise<void> {
  const { hash, userId, contact, expiresAt } = confirmation;
  await database.query(sql`
    DELETE FROM directory_confirmations WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM directory_confirmations WHERE expires_at < ${now} LIMIT 100 FOR UPDATE SKIP LOCKED))`);
  await database.query(sql`
    INSERT INTO directory_confirmations (token_hash, user_id, contact, expires_at)
    VALUES (${hash}, ${userId}, ${contact}, ${expiresAt})`);
}

/** Uses up a user's confirmation token; returns the contact, or undefined if the token is not valid. */
export async function takeConfirmation(
  database: Database,
  { hash, userId }: { hash: Buffer; userId: string },
  now: Date,
): Promise<string | undefined> {
  const { rows } = await database.query<{ contact: string }>(sql`
    DELETE FROM directory_confirmations
    WHERE token_hash = ${hash} AND user_id = ${userId} AND expires_at > ${now} RETURNING contact`);
  return rows[0]?.contact;
}

/** Locks a sender's count until the end of the transaction. */
export async function lockSender(database: Database, sender: string): Promise<void> {
  const name = HASHED_LOCKS.sender + sender;
  await database.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/** The contacts that a sender has looked up since a time, oldest first. */
export async function recentLookups(
  database: Database,
  sender: string,
  since: Date,
): Promise<{ contact: string; at: Date }[]> {
  const { rows } = await database.query<{ contact: string; at: Date }>(sql`
    SELECT contact, at FROM directory_lookups WHERE sender = ${sender} AND at > ${since} ORDER BY at`);
  return rows;
}

/** Records a look-up; deletes some of all senders' look-ups before `since`. */
export async function insertLookup(
  database: Database,
  { sender, contact, at }: { sender: string; contact: string; at: Date },
  since: Date,
): Promise<void> {
  await database.query(sql`
    DELETE FROM directory_lookups WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM directory_lookups WHERE at < ${since} LIMIT 100 FOR UPDATE SKIP LOCKED))`);
  await database.query(sql`
    INSERT INTO directory_lookups (sender, contact, at) VALUES (${sender}, ${contact}, ${at})
    ON CONFLICT (sender, contact) DO UPDATE SET at = excluded.at`);
}
