import type { FastifyRequest } from 'fastify';
import { addressBlock, isLocalRequest } from '../../../platform/http/address.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { insertLookup, lockSender, recentLookups } from './store.ts';

const HOUR_MS = 3600 * 1000;

/** Somebody who asks about contacts, and how many different ones they may ask about in an hour. */
export interface ContactLimit {
  sender: string;
  contactsAnHour: number;
}

/**
 * Counts that somebody asks about a contact. Asking about the same one again within the hour is free: whoever shares
 * with the same people all day is never stopped, whoever tries out addresses soon is. Counted in the database, so it
 * holds across processes and restarts; in the caller's transaction.
 *
 * @returns whether this contact was not asked about within the last hour
 * @throws Problem too_many_requests, with the seconds until one more may be asked about
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
    throw new Problem(
      'too_many_requests',
      `more than ${contactsAnHour} different contacts in an hour; try again later`,
      { retryAfter: Math.max(1, seconds) },
    );
  }
  await insertLookup(database, { sender, contact, at: now }, since);
  return true;
}

/** Different contacts that one sender may share with in an hour. */
const CONTACTS_OF_A_SENDER = 60;
/** The same for everyone together who has no token, from one address (IPv6: /64). */
const CONTACTS_OF_AN_ADDRESS = 600;

/**
 * Counts that a sender asks who can be found by a contact, which sharing tells. Who has no token can call himself
 * anything, so his address is counted too; not on loopback, where a proxy or the operator's own programs come from.
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
    { sender: `user ${fromUser}`, contactsAnHour: CONTACTS_OF_A_SENDER },
    contact,
    now,
  );
  if (request.user !== undefined || isLocalRequest(request)) return;
  await countLookup(
    database,
    { sender: `address ${addressBlock(request.ip)}`, contactsAnHour: CONTACTS_OF_AN_ADDRESS },
    contact,
    now,
  );
}
