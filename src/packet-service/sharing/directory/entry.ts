import { Problem } from '../../../platform/http/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { secretHash } from '../../../platform/tokens/secret.ts';
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

/** A user who can be found by a contact, and whether the request that made it so had no token. */
export interface DiscoverableUser {
  contact: string;
  userId: string;
  anonymous: boolean;
}

/** What follows from a change of the directory, done by the features that it concerns, in the same transaction. */
export interface DirectoryEffects {
  /** A user can now be found by a contact: invitations to it become shares. */
  onDiscoverable(database: Database, user: DiscoverableUser, now: Date): Promise<void>;
  /** New addresses of a user are mailed a link that confirms them. */
  askToConfirm(database: Database, userId: string, contacts: readonly string[]): Promise<void>;
}

/** Different addresses that one user may have mails for confirmation sent to in an hour. */
const CONFIRMATIONS_AN_HOUR = 20;

/** Who writes an entry. */
interface Writer {
  userId: string;
  /** whether without a token, and so not given what is shared with one */
  anonymous: boolean;
}

/** What a user wants to stand in the directory. */
export interface EntryChange extends Writer {
  /** as the client wrote them */
  contacts: readonly string[];
  discoverable: boolean;
}

/**
 * Puts a user's entry into the directory, as whoever could be anybody: contacts count at once.
 *
 * @throws Problem invalid for a contact that is none, conflict for one that is another user's
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
 * Puts a user's own entry into the directory, as the user of a token: addresses that are new are mailed a link that
 * confirms them, once an hour at most.
 *
 * @throws Problem invalid for a contact that is none, too_many_requests
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
 * Confirms a contact that a user has listed, by the token from the mail to it.
 *
 * @throws Problem not_found, the same for a token that never was, has ended, was used or is another user's
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
  return new Problem('not_found', 'there is nothing to confirm; the link may have been used, or have ended');
}

/**
 * Invitations to those of the contacts by which the user can be found now become shares. The caller holds the
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
