import type { FastifyRequest } from 'fastify';
import type { Database } from '../../../../platform/database/database.ts';
import { countedAddress } from '../../../../platform/http/address.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { insertLookup, lockSender, recentLookups } from './store.ts';

const HOUR_MS = 3600 * 1000;

/** The texts under which users are counted; addresses have their own. */
export const countedAs = {
  /** sharing with a token */
  user: (userId: string) => `user ${userId}`,
  /** sharing in this name without one */
  name: (userId: string) => `name ${userId}`,
  /** entering contacts, with a token */
  entering: (userId: string) => `entry of ${userId}`,
  /** having confirmations mailed, with a token */
  confirming: (userId: string) => `confirmations of ${userId}`,
};

/** A sender, and the number of different contacts that they may look up in an hour. */
export interface ContactLimit {
  sender: string;
  contactsAnHour: number;
}

/**
 * Counts a look-up of a contact. Looking up the same contact again within the hour is not counted, so that sharing
 * with the same people all day is never refused, but guessing addresses soon is. Counted in the database, in the
 * caller's transaction, so that the limit applies across processes and restarts.
 *
 * @returns whether this contact was not looked up within the last hour
 * @throws Problem too_many_requests, with the seconds until another one may be looked up
 */
export async function countLookup(
  database: Database,
  { sender, contactsAnHour }: ContactLimit,
  contact: string,
  now: Date,
): Promise<boolean> {
  await lockSender(database, sender);
  const since = new Date(now.getTime() - HOUR_MS);
  const recent = await recentLookups(database, sender, since);
  if (recent.some(lookup => lookup.contact === contact)) return false;
  const oldest = recent.at(-contactsAnHour);
  if (oldest) {
    const seconds = Math.ceil((oldest.at.getTime() + HOUR_MS - now.getTime()) / 1000);
    throw new Problem('contact.too_many', { max: contactsAnHour }, { retryAfter: Math.max(1, seconds) });
  }
  await insertLookup(database, { sender, contact, at: now }, since);
  return true;
}

/** Different contacts that one user may enter into the directory in an hour. */
const CONTACTS_OF_AN_ENTRY = 60;
/** Different contacts that one sender may share with in an hour. */
const CONTACTS_OF_A_SENDER = 60;
/** Contacts that everyone together who has no token may share with or enter in an hour, from one address (IPv6: /64). */
const CONTACTS_OF_AN_ADDRESS = 600;

/**
 * Counts the contacts of an entry, because each one is a request to the user registry. Without a token, the address is
 * counted.
 *
 * @throws Problem too_many_requests
 */
export async function limitClaims(
  database: Database,
  request: Pick<FastifyRequest, 'user' | 'ip' | 'ips' | 'headers'>,
  contacts: readonly string[],
): Promise<void> {
  const { user } = request;
  const limit =
    user === undefined
      ? addressLimit(request)
      : { sender: countedAs.entering(user), contactsAnHour: CONTACTS_OF_AN_ENTRY };
  if (limit === undefined) return;
  const now = new Date();
  for (const contact of contacts) await countLookup(database, limit, contact, now);
}

/** Under which a sender is counted. A name without a token is anybody's, and must not use up what a user may do. */
export function senderOf({ fromUser, author }: { fromUser: string; author: string | null }): string {
  return author === null ? countedAs.name(fromUser) : countedAs.user(fromUser);
}

/** Everything that a user is counted under, also as a name without a token. */
export function allSendersOf(userId: string): string[] {
  return Object.values(countedAs).map(nameOf => nameOf(userId));
}

/**
 * Counts a look-up by a sender, because sharing shows whether a contact can be found. Senders without a token can use
 * any name, so their address is counted too, except loopback, which proxies and the operator's programs use.
 *
 * @throws Problem too_many_requests
 */
export async function limitSender(
  database: Database,
  request: Pick<FastifyRequest, 'user' | 'ip' | 'ips' | 'headers'>,
  fromUser: string,
  contact: string,
): Promise<void> {
  const now = new Date();
  await countLookup(
    database,
    {
      sender: senderOf({ fromUser, author: request.user ?? null }),
      contactsAnHour: CONTACTS_OF_A_SENDER,
    },
    contact,
    now,
  );
  const limit = request.user === undefined ? addressLimit(request) : undefined;
  if (limit) await countLookup(database, limit, contact, now);
}

/** The limit of everyone at an address who has no token; undefined for this machine. */
function addressLimit(request: Parameters<typeof countedAddress>[0]): ContactLimit | undefined {
  const address = countedAddress(request);
  return address === undefined
    ? undefined
    : { sender: `address ${address}`, contactsAnHour: CONTACTS_OF_AN_ADDRESS };
}
