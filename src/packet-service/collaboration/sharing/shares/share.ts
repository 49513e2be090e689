import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { secretHash } from '../../../../platform/tokens/secret.ts';
import { tokenNeeded } from '../../../core/access/caller.ts';
import { CLOSED } from '../../../core/log/read-store.ts';
import { type LogEvent, queueEvents } from '../../../core/log/store.ts';
import { newUlid, ulidToUuid, uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { SECRET_DAYS } from '../directory/secret.ts';
import { findHolder, giveContact, type Holder, lockContacts } from '../directory/store.ts';
import type { NewNotification, Notifier } from '../notifications/notifier.ts';
import {
  countInvitations,
  findShare,
  findTokenContact,
  giveInvitations,
  hasClosedInvitation,
  insertShare,
  type NewShare,
  renewInvitation,
  type Share,
  takeTokens,
} from './store.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Invitations sent to one contact in a day, at most: nobody must be able to flood a stranger. */
const INVITATIONS_A_DAY = 20;

/**
 * Shares a packet, or sends an invitation if the contact belongs to nobody who wants to be found. The same packet,
 * sender and contact have one share or invitation, however often and concurrently they are requested; an invitation
 * whose contact can now be found becomes the share. An invitation whose link has expired is sent again.
 *
 * @param registered the user registry's answer about the contact; the directory takes precedence
 */
export async function shareOrInvite(
  database: Database,
  notifier: Notifier,
  key: NewShare,
  registered: Holder | undefined,
  now: Date,
): Promise<Share> {
  await lockContacts(database, [key.contact]);
  const earlier = await findShare(database, key);
  if (earlier && earlier.status !== 'invited') return earlier;

  const holder = (await findHolder(database, key.contact)) ?? registered;
  if (!holder?.discoverable) return invite(database, notifier, key, { earlier, holder }, now);
  if (earlier) {
    const given = { contact: key.contact, userId: holder.userId, anonymous: false };
    await turnIntoShares(database, notifier, given, now);
    return { ...earlier, toUser: holder.userId, status: 'pending', createdAt: now };
  }
  const share: Share = { ...key, ...fresh(now), toUser: holder.userId, status: 'pending' };
  await insertShare(database, share);
  await announceShares(database, notifier, [share]);
  return share;
}

/** The recipient of the invitations to a contact. */
export interface Recipient {
  contact: string;
  userId: string;
  /** whether the user has no token although tokens are checked: then invitations created with a token stay pending */
  anonymous: boolean;
}

/** Turns every invitation to a contact into a share with the user who can now be found by it. */
export async function turnIntoShares(
  database: Database,
  notifier: Notifier,
  recipient: Recipient,
  now: Date,
): Promise<number> {
  const shares = await giveInvitations(database, recipient, now);
  await announceShares(database, notifier, shares);
  return shares.length;
}

/**
 * Accepts an invitation: its token proves the contact. The contact becomes the user's, the user can be found, every
 * invitation to the contact becomes a share, and all tokens to it are used up.
 *
 * @throws Problem not_found, the same for a token that never existed, has expired or was used; unauthenticated
 */
export async function acceptInvitation(
  database: Database,
  notifier: Notifier,
  token: string,
  { userId, anonymous }: Omit<Recipient, 'contact'>,
  now: Date,
): Promise<{ contact: string; shares: number }> {
  const hash = secretHash(token);
  const contact = await findTokenContact(database, hash, now);
  if (contact === undefined) throw noInvitation();
  await lockContacts(database, [contact]);
  if (anonymous && (await hasClosedInvitation(database, contact))) throw tokenNeeded('this invitation');
  // The previous holder of the lock may have used it up.
  if (!(await takeTokens(database, contact, hash))) throw noInvitation();
  await giveContact(database, { userId, contact }, now, { addUnlisted: true });
  return { contact, shares: await turnIntoShares(database, notifier, { contact, userId, anonymous }, now) };
}

/** Accepts every invitation to a contact that is known to be the user's: each becomes a share. */
export async function acceptWaiting(
  database: Database,
  notifier: Notifier,
  recipient: Recipient,
  now: Date,
): Promise<number> {
  await lockContacts(database, [recipient.contact]);
  return turnIntoShares(database, notifier, recipient, now);
}

export function noInvitation(): Problem {
  return new Problem('not_found', 'there is no such invitation; it may have been used or expired');
}

async function invite(
  database: Database,
  notifier: Notifier,
  key: NewShare,
  { earlier, holder }: { earlier: Share | undefined; holder: Holder | undefined },
  now: Date,
): Promise<Share> {
  const lastLink = new Date(now.getTime() - SECRET_DAYS * DAY_MS);
  if (earlier && earlier.createdAt > lastLink) return earlier;

  const sentToday = await countInvitations(database, key.contact, new Date(now.getTime() - DAY_MS));
  const invitation: Share = { ...key, ...fresh(now), toUser: null, status: 'invited' };
  if (earlier) {
    invitation.shareId = earlier.shareId;
    await renewInvitation(database, earlier.shareId, now);
  } else {
    await insertShare(database, invitation);
  }
  const notificationId = ulidToUuid(newUlid());
  const news = newsOf('invitation.sent', invitation, notificationId, holder?.userId);
  await notifier.notify(database, [{ ...news, silent: sentToday >= INVITATIONS_A_DAY }]);
  if (holder)
    await queueEvents(database, [eventOf('invitation.sent', invitation, notificationId, holder.userId)]);
  return invitation;
}

function fresh(now: Date): Pick<Share, 'shareId' | 'createdAt'> {
  return { shareId: ulidToUuid(newUlid()), createdAt: now };
}

/** Notifies recipients of their new shares, in the caller's transaction. */
export async function announceShares(
  database: Database,
  notifier: Notifier,
  shares: readonly Share[],
): Promise<void> {
  // By this id receivers of the live feed, mails and webhooks recognise repeated notifications.
  const ids = shares.map(() => ulidToUuid(newUlid()));
  await notifier.notify(
    database,
    shares.map((share, at) => newsOf('share.created', share, ids[at] as string, share.toUser ?? undefined)),
  );
  await queueEvents(
    database,
    shares.map((share, at) => eventOf('share.created', share, ids[at] as string, share.toUser as string)),
  );
}

function newsOf(
  type: NewNotification['type'],
  share: Share,
  notificationId: string,
  userId: string | undefined,
): NewNotification {
  const { shareId, packetId, fromUser, contact, createdAt, author } = share;
  return { notificationId, type, userId, contact, packetId, shareId, fromUser, createdAt, author };
}

function eventOf(kind: LogEvent['kind'], share: Share, notificationId: string, userId: string): LogEvent {
  const id = uuidToUlid(share.shareId);
  const named = kind === 'share.created' ? { share_id: id } : { invitation_id: id };
  const details = {
    notification_id: uuidToUlid(notificationId),
    ...named,
    from_user: share.fromUser,
    created_at: share.createdAt.toISOString(),
    ...(share.author !== null && { [CLOSED]: true }),
  };
  return { kind, packetId: share.packetId, userId, details };
}
