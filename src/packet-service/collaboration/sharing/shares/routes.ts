import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { transaction } from '../../../../platform/database/database.ts';
import { optionalBody } from '../../../../platform/http/optional-body.ts';
import { prefersPage, sendHtml, varyOf } from '../../../../platform/http/page.ts';
import type { Server } from '../../../../platform/http/server.ts';
import { type Caller, namedUser } from '../../../core/access/caller.ts';
import { positionOf } from '../../../core/contract/cursor.ts';
import {
  findEarlierAnswer,
  readKey,
  replayAnswer,
  runIdempotent,
  sendIdempotentAnswer,
} from '../../../core/idempotency/idempotency.ts';
import { parseUlid, ulidToUuid, uuidToUlid } from '../../../core/packet-format/ulid.ts';
import type { PacketReader } from '../../../core/packets/reader.ts';
import { findSummaries, type PacketSummary } from '../../../core/packets/summary-store.ts';
import { type Item, inBatches, sendList } from '../../chat/listing.ts';
import { readContact } from '../directory/contact.ts';
import { type LookUpHolder, NO_ANSWER } from '../directory/discoverability.ts';
import type { Registered } from '../directory/holder.ts';
import { limitSender } from '../directory/rate-limit.ts';
import { type FindSenderNames, fromName } from '../directory/sender-names.ts';
import type { Notifier } from '../notifications/notifier.ts';
import { acceptOrReject } from './accept-or-reject.ts';
import { answerInvitation } from './answer-invitation.ts';
import { inboxPage } from './inbox-page.ts';
import { hasContact, registerInvitations } from './invitation-routes.ts';
import { erasedContact } from './personal-store.ts';
import { decideSchema, inboxSchema, MAX_SENT, postShareSchema, sentSchema } from './schemas.ts';
import { shareOrInvite } from './share.ts';
import {
  findInboxPosition,
  findShare,
  findShareById,
  type InboxPosition,
  listSent,
  listShares,
  type Share,
  type ShareKey,
} from './store.ts';

/** Dependencies of sharing. */
export interface Sharing {
  pool: pg.Pool;
  notifier: Notifier;
  lookUpHolder: LookUpHolder;
  findSenderNames: FindSenderNames;
  readPacket: PacketReader;
  /** whether look-ups of contacts and shares of a sender are limited */
  limitsContacts: boolean;
}

/** Sharing packets, the inbox, and invitations. */
export function registerShares(app: Server, sharing: Sharing): void {
  const { pool, notifier, readPacket } = sharing;
  app.post('/shares', { schema: postShareSchema }, async (request, reply) => {
    const { packet_id, from_user, contact_value } = request.body;
    const fromUser = await namedUser(request, 'from_user', from_user);
    const contact = readContact(contact_value, 'contact_value');
    const key = readKey(request);
    const earlier = await findEarlierAnswer(pool, key);
    if (earlier) return replayAnswer(reply, earlier);

    await readPacket(request, packet_id);
    const share = {
      packetId: ulidToUuid(packet_id.toUpperCase()),
      fromUser,
      contact,
      author: request.user ?? null,
    };
    const registered = await lookUp(sharing, request, share);
    const done = await runIdempotent(pool, key, async database => {
      const lookup = { registered, isLimited: sharing.limitsContacts };
      const made = await shareOrInvite(database, notifier, share, lookup, new Date());
      return { status: 201, answer: JSON.stringify(asOutcome(made)) };
    });
    notifier.wake();
    return sendIdempotentAnswer(reply, done);
  });

  app.get('/shares/inbox', { schema: inboxSchema, config: { forPeople: true } }, async (request, reply) => {
    const { user_id, status, details = 'false', limit, cursor } = request.query;
    const userId = await namedUser(request, 'user_id', user_id);
    const start = await positionOf(cursor, id => findInboxPosition(pool, id, userId));
    const shares = (wanted: number) =>
      inBatches(
        wanted,
        start,
        (row: Share & InboxPosition) => row,
        (after, count) =>
          listShares(pool, { userId, status, openOnly: request.anonymous }, { after, limit: count }),
      );
    reply.header('vary', varyOf(reply));
    if (prefersPage(request.headers.accept)) {
      return sendHtml(reply.header('cache-control', 'no-store'), await inboxPage(userId, shares));
    }
    if (details === 'false') return sendList(reply, 'shares', limit, shares, asListItem);
    const detailed = (wanted: number) => withDetails(sharing, request, shares(wanted));
    return sendList(reply, 'shares', limit, detailed, asListItem);
  });

  for (const [verb, operationId, status] of [
    ['accept', 'acceptShare', 'accepted'],
    ['reject', 'rejectShare', 'rejected'],
  ] as const) {
    const schema = decideSchema(operationId, verb);
    app.post(`/shares/:share_id/${verb}`, { schema, ...optionalBody }, async request => {
      const userId = await namedUser(request, 'user_id', request.body.user_id);
      const { anonymous } = request;
      const answered = await answerWaiting(sharing, request, userId, status);
      if (answered) notifier.wake();
      return asItem(
        answered ?? (await acceptOrReject(pool, request.params.share_id, { userId, anonymous }, status)),
      );
    });
  }

  registerSent(app, sharing);
  registerInvitations(app, sharing);
}

function registerSent(app: Server, { pool, readPacket }: Sharing): void {
  app.get('/packets/:id/shares', { schema: sentSchema }, async request => {
    const fromUser = await namedUser(request, 'user_id', request.query.user_id);
    const { id } = request.params;
    await readPacket(request, id);
    const of = { packetId: ulidToUuid(id.toUpperCase()), fromUser, openOnly: request.anonymous };
    return { shares: (await listSent(pool, of, MAX_SENT)).map(asSent) };
  });
}

/** Answers an invitation to a contact of the caller; undefined if the invitation is unknown. */
async function answerWaiting(
  sharing: Sharing,
  request: Caller & { params: { share_id: string } },
  userId: string,
  status: 'accepted' | 'rejected',
): Promise<Share | undefined> {
  const { pool, notifier } = sharing;
  const id = parseUlid(request.params.share_id);
  const share = id === undefined ? undefined : await findShareById(pool, id);
  if (share?.status !== 'invited' || request.anonymous) return undefined;
  if (!(await hasContact(sharing, request, share.contact, userId))) return undefined;
  return transaction(pool, database =>
    answerInvitation(database, notifier, share, userId, status, new Date()),
  );
}

/**
 * Looks up a share's contact in the user registry, unless the packet is already shared. Outside the transaction, because
 * a slow registry must not hold a connection.
 *
 * @throws Problem too_many_requests
 */
async function lookUp(
  { pool, lookUpHolder, limitsContacts }: Sharing,
  request: FastifyRequest,
  share: ShareKey,
): Promise<Registered> {
  const earlier = await findShare(pool, share);
  // The earlier share decides: the recipient need not be looked up, unless the share is withdrawn meanwhile.
  if (earlier && earlier.status !== 'invited') return NO_ANSWER;
  if (limitsContacts) {
    await transaction(pool, database => limitSender(database, request, share.fromUser, share.contact));
  }
  return lookUpHolder(share.contact);
}

function asOutcome({ shareId, status }: Share) {
  const id = uuidToUlid(shareId);
  return status === 'invited'
    ? {
        invitation_id: id,
        status: 'invitation_sent',
        message: 'The recipient cannot be found yet. An invitation asks them to become discoverable.',
      }
    : { share_id: id, status: 'created', message: 'Shared; the recipient is being notified.' };
}

function asItem({ shareId, packetId, fromUser, status, createdAt }: Share) {
  return {
    share_id: uuidToUlid(shareId),
    packet_id: uuidToUlid(packetId),
    from_user: fromUser,
    // With a recipient, it is not an invitation anymore.
    status: status as Exclude<Share['status'], 'invited'>,
    created_at: createdAt.toISOString(),
  };
}

/** A share as its sender sees it. */
function asSent({ shareId, contact, status, createdAt }: Share) {
  return {
    share_id: uuidToUlid(shareId),
    ...(contact !== erasedContact(shareId) && { contact_value: contact }),
    status,
    created_at: createdAt.toISOString(),
  };
}

/** Adds what the packets say, and senders' names. */
async function* withDetails(
  { pool, findSenderNames }: Sharing,
  { user }: Caller,
  batches: AsyncGenerator<(Share & InboxPosition)[]>,
) {
  for await (const shares of batches) {
    const ids = shares.map(({ packetId }) => packetId);
    const summaries = ids.length > 0 ? await findSummaries(pool, ids) : undefined;
    // Without a token, anybody can ask for an inbox.
    const names = user === undefined ? undefined : await findSenderNames(shares);
    yield shares.map(share => ({
      ...share,
      named: fromName(names, share),
      packet: summaries?.get(share.packetId),
    }));
  }
}

/** A share, with details on request. */
interface ListedShare extends Share {
  named?: { from_name?: string };
  packet?: PacketSummary | undefined;
}

function asListItem({ packet, named, ...share }: ListedShare): Item {
  const item = { ...asItem(share), ...named, ...(packet && { packet: asSummary(packet, share) }) };
  return { json: JSON.stringify(item), cursor: item.share_id };
}

/** A user who rejected the share of a message cannot read it. */
function asSummary({ isMessage, text, ...summary }: PacketSummary, { status }: Share) {
  return { ...summary, ...((!isMessage || status !== 'rejected') && { text }) };
}
