import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { secretHash } from '../../../../platform/tokens/secret.ts';
import { keepTokenless } from '../../../core/access/token-users.ts';
import { contactKind, readContact } from './contact.ts';
import { holderOf, type Registered } from './holder.ts';
import { countedAs, countLookup } from './rate-limit.ts';
import {
  deleteEntry,
  type Entry,
  findEntered,
  findEntry,
  giveContact,
  lockContacts,
  type Proof,
  putEntry,
  takeConfirmation,
} from './store.ts';

/** A user who can be found by a contact. */
export interface DiscoverableUser {
  contact: string;
  userId: string;
  /** which invitations to the contact are theirs: those without a token alone if the contact is not proven */
  invitations: 'all' | 'open' | 'none';
}

/** The consequences of a change of the directory for other features, in the same transaction. */
export interface DirectoryEffects {
  /** A user has become discoverable by a contact: invitations to it become shares. Takes as long if none do. */
  onDiscoverable(database: Database, user: DiscoverableUser, now: Date): Promise<void>;
  /** New addresses of a user are mailed a link that confirms them. */
  requestConfirmation(database: Database, userId: string, contacts: readonly string[]): Promise<void>;
}

/** Different addresses to which one user can have confirmation mails sent in an hour. */
const CONFIRMATIONS_AN_HOUR = 20;

/** The user who writes an entry. */
export interface Writer {
  userId: string;
  /** whether the user has proven by a token who they are */
  hasToken: boolean;
  /** whether tokens are checked and the request has none */
  anonymous: boolean;
}

/** The entry that a user sends. */
export interface EntryChange {
  userId: string;
  /** in the form of `readContact`, with what the user registry says of each */
  contacts: ReadonlyMap<string, Registered>;
  discoverable: boolean;
}

/**
 * Stores an entry that somebody sends without a token. Its contacts are claims: they count at once for what is shared
 * without a token, unless somebody is known to have them. That nobody can see in the answer or its time.
 *
 * @throws Problem forbidden if the user has sent a token meanwhile
 */
export async function putOpenEntry(
  database: Database,
  effects: DirectoryEffects,
  wish: EntryChange,
  { anonymous, now }: { anonymous: boolean; now: Date },
): Promise<Entry> {
  const { userId } = wish;
  if (anonymous) await keepTokenless(database, 'user_id', userId);
  const contacts = [...wish.contacts.keys()];
  await lockContacts(database, contacts);
  await putEntry(database, { ...wish, contacts }, now, now);
  return convertInvitations(database, effects, wish, now);
}

/**
 * Stores the entry of a token's user: new addresses get a mail with a confirmation link, at most once an hour, unless
 * the user registry has them for the user.
 *
 * @throws Problem too_many_requests
 */
export async function putOwnEntry(
  database: Database,
  effects: DirectoryEffects,
  wish: EntryChange,
  now: Date,
): Promise<Entry> {
  const { userId } = wish;
  const contacts = [...wish.contacts.keys()];
  await lockContacts(database, contacts);
  await putEntry(database, { ...wish, contacts }, null, now);
  const listed = (await findEntry(database, userId)) as Entry;
  for (const { contact, confirmed } of listed.contacts) {
    const isOwn = wish.contacts.get(contact)?.holder?.userId === userId;
    if (confirmed || !isOwn) continue;
    await giveContact(database, { userId, contact, proof: 'registry' }, now, { addUnlisted: false });
  }
  const entry = await convertInvitations(database, effects, wish, now);

  const asker = { sender: countedAs.confirming(userId), contactsAnHour: CONFIRMATIONS_AN_HOUR };
  const toAsk: string[] = [];
  for (const { contact, confirmed } of entry.contacts) {
    if (confirmed || contactKind(contact) !== 'email') continue;
    if (await countLookup(database, asker, contact, now)) toAsk.push(contact);
  }
  await effects.requestConfirmation(database, userId, toAsk);
  return entry;
}

/**
 * Deletes an entry, if there is one.
 *
 * @throws Problem forbidden if the user of a request without a token has sent one meanwhile
 */
export async function removeEntry(
  database: Database,
  { userId, anonymous }: { userId: string; anonymous: boolean },
): Promise<void> {
  if (anonymous) await keepTokenless(database, 'user_id', userId);
  await deleteEntry(database, userId);
}

/** The kind of proof that a code sent to a contact gives. */
export function proofOf(contact: string, { hasToken }: Pick<Writer, 'hasToken'>): Exclude<Proof, 'none'> {
  if (!hasToken) return 'code';
  return contactKind(contact) === 'email' ? 'mailed' : 'texted';
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
  if (writer.anonymous) await keepTokenless(database, 'user_id', userId);
  const contact = await takeConfirmation(database, { hash: secretHash(token), userId }, now);
  if (contact === undefined) throw noConfirmation();
  await lockContacts(database, [contact]);
  const proven = { userId, contact, proof: proofOf(contact, writer) };
  if (!(await giveContact(database, proven, now, { addUnlisted: false }))) throw noConfirmation();
  const entry = (await findEntry(database, userId)) as Entry;
  if (entry.discoverable) {
    const invitations = writer.anonymous ? 'open' : 'all';
    await effects.onDiscoverable(database, { contact, userId, invitations }, now);
  }
  return entry;
}

function noConfirmation(): Problem {
  return new Problem('contact.nothing_to_confirm');
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
  { userId, contacts, discoverable }: EntryChange,
  now: Date,
): Promise<Entry> {
  for (const [contact, registered] of discoverable ? contacts : []) {
    const holder = holderOf(registered, await findEntered(database, contact));
    const isHeld = holder?.userId === userId && holder.discoverable;
    const invitations = isHeld ? (holder.isProven ? 'all' : 'open') : 'none';
    await effects.onDiscoverable(database, { contact, userId, invitations }, now);
  }
  return (await findEntry(database, userId)) as Entry;
}

/**
 * The contacts of an entry in the form of `readContact`, each once.
 *
 * @throws Problem invalid
 */
export function readContacts(values: readonly string[]): string[] {
  return [...new Set(values.map((value, index) => readContact(value, `contacts.${index}`)))];
}
