import sql from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import { HASHED_LOCKS } from '../../../../platform/database/locks/advisory-locks.ts';
import type { Entered, Holder } from './holder.ts';

/** How a contact was proven: see migration 101. */
export type Proof = 'none' | 'code' | 'mailed' | 'texted' | 'registry';

/** The proofs of a contact that make it belong to one user. */
const PROVEN = sql`('mailed', 'texted', 'registry')`;
/** Maximum users checked who claim a contact, earliest first. */
const CLAIMS = 100;

/** A contact in an entry. */
export interface Listed {
  contact: string;
  /** whether it leads anybody to the user */
  confirmed: boolean;
  proof: Proof;
}

/** A user's entry in the directory. */
export interface Entry {
  userId: string;
  discoverable: boolean;
  /** in the form of `readContact`, in their order */
  contacts: Listed[];
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

/**
 * Who has a contact: the user who has proven it, and the one who has entered it without a token. Of several who claim
 * it, the one whom a code has reached, else the earliest who wants to be found.
 */
export async function findEntered(database: Database, contact: string): Promise<Entered> {
  const { rows } = await database.query<Holder & { proof: Proof }>(sql`
    (SELECT user_id AS "userId", discoverable, proof FROM directory_contacts JOIN directory_users USING (user_id)
      WHERE contact = ${contact} AND proof IN ${PROVEN})
    UNION ALL
    (SELECT user_id, discoverable, proof FROM directory_contacts JOIN directory_users USING (user_id)
      WHERE contact = ${contact} AND proof = 'code')
    UNION ALL
    (SELECT user_id, discoverable, 'none' FROM (
        SELECT user_id, confirmed_at FROM directory_contacts
        WHERE contact = ${contact} AND confirmed_at IS NOT NULL AND proof = 'none'
        ORDER BY confirmed_at, user_id LIMIT ${CLAIMS}) AS claims
      JOIN directory_users USING (user_id) ORDER BY discoverable DESC, confirmed_at, user_id LIMIT 1)`);
  const of = (proofs: readonly Proof[]) => rows.find(({ proof }) => proofs.includes(proof));
  const proven = of(['mailed', 'texted', 'registry']);
  const claimed = of(['code']) ?? of(['none']);
  return {
    proven: proven && { ...holderIn(proven), byRegistry: proven.proof === 'registry' },
    claimed: claimed && holderIn(claimed),
  };
}

const holderIn = ({ userId, discoverable }: Holder): Holder => ({ userId, discoverable });

export async function findEntry(database: Database, userId: string): Promise<Entry | undefined> {
  const { rows } = await database.query<
    Omit<Listed, 'contact'> & { discoverable: boolean; contact: string | null }
  >(sql`
    SELECT discoverable, contact, confirmed_at IS NOT NULL AS confirmed, proof
    FROM directory_users LEFT JOIN directory_contacts USING (user_id)
    WHERE user_id = ${userId} ORDER BY contact`);
  if (!rows[0]) return undefined;
  const contacts = rows.flatMap(({ contact, confirmed, proof }) =>
    contact === null ? [] : [{ contact, confirmed, proof }],
  );
  return { userId, discoverable: rows[0].discoverable, contacts };
}

/**
 * Replaces a user's entry. Confirmed contacts stay confirmed, and proven ones proven.
 *
 * @param confirmedAt from when the contacts count without a proof; null if they do not
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
 * Assigns a proven contact to a user; a previous owner loses it, as with an address or number that was reassigned,
 * unless they have proven it with a token and the user has not. The caller holds the contact's lock.
 *
 * @param addUnlisted also if the user has not listed it; otherwise they must still list it
 * @returns whether it was assigned
 */
export async function giveContact(
  database: Database,
  { userId, contact, proof }: { userId: string; contact: string; proof: Exclude<Proof, 'none'> },
  now: Date,
  { addUnlisted }: { addUnlisted: boolean },
): Promise<boolean> {
  await database.query(sql`
    DELETE FROM directory_contacts
    WHERE contact = ${contact} AND user_id <> ${userId}
      AND (proof = 'code' OR (proof IN ${PROVEN} AND ${proof !== 'code'}))`);
  if (addUnlisted) {
    await database.query(sql`
      INSERT INTO directory_users (user_id, discoverable, updated_at) VALUES (${userId}, true, ${now})
      ON CONFLICT (user_id) DO UPDATE SET discoverable = true, updated_at = excluded.updated_at`);
    await database.query(sql`
      INSERT INTO directory_contacts (user_id, contact) VALUES (${userId}, ${contact}) ON CONFLICT DO NOTHING`);
  }
  const { rowCount } = await database.query(sql`
    UPDATE directory_contacts SET confirmed_at = coalesce(confirmed_at, ${now}::timestamptz),
      proof = CASE WHEN proof IN ${PROVEN} AND ${proof === 'code'} THEN proof ELSE ${proof} END
    WHERE user_id = ${userId} AND contact = ${contact}`);
  return rowCount === 1;
}

/** Takes the effect of the contacts of users that are not proven with a token. */
export async function unconfirmContacts(database: Database, userIds: readonly string[]): Promise<void> {
  await database.query(sql`
    UPDATE directory_contacts SET confirmed_at = NULL, proof = 'none'
    WHERE user_id = ANY (${userIds}::text[]) AND confirmed_at IS NOT NULL AND proof NOT IN ${PROVEN}`);
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
