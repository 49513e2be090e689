import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { secretHash } from '../../../../platform/tokens/secret.ts';
import { keepTokenless } from '../../../core/access/token-users.ts';
import { CLOSED } from '../../../core/log/read-store.ts';
import { type LogEvent, queueEventIf, queueEvents } from '../../../core/log/store.ts';
import { firstUuidAt, newUlid, ulidToUuid, uuidTime, uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { type DiscoverableUser, proofOf, type Writer } from '../directory/entry.ts';
import { holderOf, type KnownHolder, type Registered } from '../directory/holder.ts';
import { senderOf } from '../directory/rate-limit.ts';
import { SECRET_DAYS } from '../directory/secret.ts';
import { findEntered, giveContact, lockContacts, lockSender } from '../directory/store.ts';
import type { NewNotification, Notifier } from '../notifications/notifier.ts';
import {
  countInvitations,
  findNth,
  findShare,
  findTokenContact,
  giveInvitations,
  hasClosedInvitation,
  insertShare,
  renewInvitation,
  type Share,
  type ShareKey,
  takeTokens,
} from './store.ts';

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Shares and invitations that one sender may make in an hour. */
const SHARES_AN_HOUR = 200;
/**
 * Invitations sent to one contact in a day, at most: nobody must be able to flood a stranger. Those of senders without a
 * token count apart, so that they keep back none of the others.
 */
const INVITATIONS_A_DAY = 20;

/**
 * Shares a packet, or sends an invitation if the contact belongs to nobody who wants to be found. The same packet,
 * sender and contact have one share or invitation, however often and concurrently they are requested; an invitation
 * whose contact can now be found becomes the share. An invitation whose link has expired is sent again.
 *
 * @param lookup registered: the user registry's answer about the contact; isLimited: whether shares of a sender are
 * @throws Problem too_many_requests
 */
export async function shareOrInvite(
  database: Database,
  notifier: Notifier,
  key: ShareKey,
  { registered, isLimited }: { registered: Registered; isLimited: boolean },
  now: Date,
): Promise<Share> {
  if (isLimited) await lockSender(database, senderOf(key));
  await lockContacts(database, [key.contact]);
  const earlier = await findShare(database, key);
  if (earlier && earlier.status !== 'invited') return earlier;

  const known = holderOf(registered, await findEntered(database, key.contact));
  // Shares sent with a token do not reach users who only claim the contact.
  const holder = known?.isProven === false && key.author !== null ? undefined : known;
  const noMail = isLimited && !earlier && (await isBeyondLimit(database, key, now));
  if (!holder?.discoverable) return invite(database, notifier, key, { earlier, holder, noMail }, now);
  if (earlier) {
    const invitations = holder.isProven ? 'all' : 'open';
    await turnIntoShares(
      database,
      notifier,
      { contact: key.contact, userId: holder.userId, invitations },
      now,
    );
    return { ...earlier, toUser: holder.userId, status: 'pending', createdAt: now };
  }
  const share: Share = { ...key, ...fresh(now), toUser: holder.userId, status: 'pending' };
  await insertShare(database, share);
  await announceShares(database, notifier, [share], { noMail });
  return share;
}

/**
 * Whether a sender has shared as often as they may in an hour. With a token that is an error. Without one the sender may
 * be anybody and gets the usual answer, which tells nothing of the recipient; but nobody is mailed.
 *
 * @throws Problem too_many_requests
 */
async function isBeyondLimit(database: Database, key: ShareKey, now: Date): Promise<boolean> {
  const since = firstUuidAt(new Date(now.getTime() - HOUR_MS));
  const nth = await findNth(database, key, since, SHARES_AN_HOUR);
  if (nth === undefined || key.author === null) return nth !== undefined;
  const seconds = Math.ceil((uuidTime(nth) + HOUR_MS - now.getTime()) / 1000);
  throw new Problem('share.too_many', { max: SHARES_AN_HOUR }, { retryAfter: Math.max(1, seconds) });
}

/** Turns the invitations to a contact that are the user's into shares with them. */
export async function turnIntoShares(
  database: Database,
  notifier: Notifier,
  recipient: DiscoverableUser,
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
  writer: Writer,
  now: Date,
): Promise<{ contact: string; shares: number }> {
  const { userId, anonymous } = writer;
  if (anonymous) await keepTokenless(database, 'user_id', userId);
  const hash = secretHash(token);
  const contact = await findTokenContact(database, hash, now);
  if (contact === undefined) throw noInvitation();
  await lockContacts(database, [contact]);
  if (anonymous && (await hasClosedInvitation(database, contact)))
    throw new Problem('invitation.needs_token');
  // The previous holder of the lock may have used it up.
  if (!(await takeTokens(database, contact, hash))) throw noInvitation();
  const proven = { userId, contact, proof: proofOf(contact, writer) };
  await giveContact(database, proven, now, { addUnlisted: true });
  const recipient = { contact, userId, invitations: anonymous ? 'open' : 'all' } as const;
  return { contact, shares: await turnIntoShares(database, notifier, recipient, now) };
}

/** Accepts every invitation to a contact that is known to be the user's: each becomes a share. */
export async function acceptWaiting(
  database: Database,
  notifier: Notifier,
  recipient: Omit<DiscoverableUser, 'invitations'>,
  now: Date,
): Promise<number> {
  await lockContacts(database, [recipient.contact]);
  return turnIntoShares(database, notifier, { ...recipient, invitations: 'all' }, now);
}

export function noInvitation(): Problem {
  return new Problem('invitation.unknown');
}

async function invite(
  database: Database,
  notifier: Notifier,
  key: ShareKey,
  {
    earlier,
    holder,
    noMail,
  }: { earlier: Share | undefined; holder: KnownHolder | undefined; noMail: boolean },
  now: Date,
): Promise<Share> {
  const lastLink = new Date(now.getTime() - SECRET_DAYS * DAY_MS);
  if (earlier && earlier.createdAt > lastLink) return earlier;

  const sentToday = await countInvitations(database, key, new Date(now.getTime() - DAY_MS));
  const invitation: Share = { ...key, ...fresh(now), toUser: null, status: 'invited' };
  if (earlier) {
    invitation.shareId = earlier.shareId;
    await renewInvitation(database, earlier.shareId, now);
  } else {
    await insertShare(database, invitation);
  }
  const notificationId = ulidToUuid(newUlid());
  const news = newsOf('invitation.sent', invitation, notificationId, holder?.userId);
  await notifier.notify(database, [{ ...news, silent: noMail || sentToday >= INVITATIONS_A_DAY }]);
  // Nobody must see by the time whether the contact is a user's.
  const event = eventOf('invitation.sent', invitation, notificationId, holder?.userId ?? '');
  await queueEventIf(database, holder !== undefined, event);
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
  { noMail }: { noMail: boolean } = { noMail: false },
): Promise<void> {
  // By this id receivers of the live feed, mails and webhooks recognise repeated notifications.
  const ids = shares.map(() => ulidToUuid(newUlid()));
  await notifier.notify(
    database,
    shares.map((share, at) => {
      const news = newsOf('share.created', share, ids[at] as string, share.toUser ?? undefined);
      return { ...news, noMail };
    }),
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
