import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { secretHash } from '../../../../platform/tokens/secret.ts';
import { contactKind, readContact } from './contact.ts';
import { countLookup } from './rate-limit.ts';
import {
  type Entry,
  findEntry,
  findOthersContact,
  giveContact,
  lockContacts,
  putEntry,
  takeConfirmation,
} from './store.ts';

/** A user who can be found by a contact, and whether the request that caused this had no token. */
export interface DiscoverableUser {
  contact: string;
  userId: string;
  anonymous: boolean;
}

/** The consequences of a change of the directory for other features, in the same transaction. */
export interface DirectoryEffects {
  /** A user has become discoverable by a contact: invitations to it become shares. */
  onDiscoverable(database: Database, user: DiscoverableUser, now: Date): Promise<void>;
  /** New addresses of a user are mailed a link that confirms them. */
  askToConfirm(database: Database, userId: string, contacts: readonly string[]): Promise<void>;
}

/** Different addresses to which one user can have confirmation mails sent in an hour. */
const CONFIRMATIONS_AN_HOUR = 20;

/** The user who writes an entry. */
interface Writer {
  userId: string;
  /** whether without a token, and so without access to what is shared with one */
  anonymous: boolean;
}

/** The entry that a user sends. */
export interface EntryChange extends Writer {
  /** as sent */
  contacts: readonly string[];
  discoverable: boolean;
}

/**
 * Stores a user's entry without proof of identity: contacts are effective at once.
 *
 * @throws Problem invalid for an invalid contact, conflict for one that is another user's
 */
export async function putOpenEntry(
  database: Database,
  effects: DirectoryEffects,
  wish: EntryChange,
  now: Date,
): Promise<Entry> {
  const contacts = readContacts(wish.contacts);
  await lockContacts(database, contacts);
  const taken = await findOthersContact(database, wish.userId, contacts);
  if (taken !== undefined) throw new Problem('conflict', `contacts: ${taken} belongs to another user`);
  await putEntry(database, { ...wish, contacts }, now, now);
  return convertInvitations(database, effects, wish, contacts, now);
}

/**
 * Stores the entry of a token's user: new addresses get a mail with a confirmation link, at most once an hour.
 *
 * @throws Problem invalid for an invalid contact, too_many_requests
 */
export async function putOwnEntry(
  database: Database,
  effects: DirectoryEffects,
  wish: EntryChange,
  now: Date,
): Promise<Entry> {
  const contacts = readContacts(wish.contacts);
  await lockContacts(database, contacts);
  await putEntry(database, { ...wish, contacts }, null, now);
  const entry = await convertInvitations(database, effects, wish, contacts, now);

  const asker = { sender: `confirmations of ${wish.userId}`, contactsAnHour: CONFIRMATIONS_AN_HOUR };
  const toAsk: string[] = [];
  for (const { contact, confirmed } of entry.contacts) {
    if (confirmed || contactKind(contact) !== 'email') continue;
    if (await countLookup(database, asker, contact, now)) toAsk.push(contact);
  }
  await effects.askToConfirm(database, wish.userId, toAsk);
  return entry;
}

/**
 * Confirms a listed contact by the token from the mail to it.
 *
 * @throws Problem not_found, the same for a token that never existed, has expired, was used or is another user's
 */
export async function confirmContact(
  database: Database,
  effects: DirectoryEffects,
  token: string,
  writer: Writer,
  now: Date,
): Promise<Entry> {
  const { userId } = writer;
  const contact = await takeConfirmation(database, { hash: secretHash(token), userId }, now);
  if (contact === undefined) throw noConfirmation();
  await lockContacts(database, [contact]);
  if (!(await giveContact(database, { userId, contact }, now, { addUnlisted: false })))
    throw noConfirmation();
  return convertInvitations(database, effects, writer, [contact], now);
}

function noConfirmation(): Problem {
  return new Problem('not_found', 'there is nothing to confirm; the link may have been used or expired');
}

/**
 * Turns invitations to those of the contacts by which the user can now be found into shares. The caller holds the
 * contacts' locks.
 *
 * @returns the user's entry
 */
async function convertInvitations(
  database: Database,
  effects: DirectoryEffects,
  { userId, anonymous }: Writer,
  contacts: readonly string[],
  now: Date,
): Promise<Entry> {
  const entry = (await findEntry(database, userId)) as Entry;
  if (!entry.discoverable) return entry;
  for (const { contact, confirmed } of entry.contacts) {
    if (confirmed && contacts.includes(contact)) {
      await effects.onDiscoverable(database, { contact, userId, anonymous }, now);
    }
  }
  return entry;
}

function readContacts(values: readonly string[]): string[] {
  return [...new Set(values.map((value, index) => readContact(value, `contacts.${index}`)))];
}
