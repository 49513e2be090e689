import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { optionalBody } from '../../../platform/http/optional-body.ts';
import { prefersPage, sendHtml, varyOf } from '../../../platform/http/page.ts';
import type { Server } from '../../../platform/http/server.ts';
import { transaction } from '../../../platform/postgres/database.ts';
import { namedUser } from '../../access/caller.ts';
import { type Item, inBatches, sendList } from '../../chat/listing.ts';
import { positionOf } from '../../contract/cursor.ts';
import {
  findEarlierAnswer,
  readKey,
  replayAnswer,
  runIdempotent,
  sendIdempotentAnswer,
} from '../../idempotency/idempotency.ts';
import { ulidToUuid, uuidToUlid } from '../../packet/ulid.ts';
import type { PacketReader } from '../../packets/reader.ts';
import { readContact } from '../directory/contact.ts';
import type { AskRegistry } from '../directory/discoverability.ts';
import { registerLandingPage } from '../directory/landing.ts';
import { limitSender } from '../directory/rate-limit.ts';
import { findHolder } from '../directory/store.ts';
import type { Notifier } from '../notifications/notifier.ts';
import { acceptOrReject } from './accept-or-reject.ts';
import { inboxPage } from './inbox-page.ts';
import { acceptInvitationSchema, decideSchema, inboxSchema, postShareSchema } from './schemas.ts';
import { acceptInvitation, shareOrInvite } from './share.ts';
import {
  findInboxPosition,
  findShare,
  type InboxPosition,
  listShares,
  type Share,
  type ShareKey,
} from './store.ts';

/** What sharing needs. */
export interface Sharing {
  pool: pg.Pool;
  notifier: Notifier;
  askRegistry: AskRegistry;
  readPacket: PacketReader;
  /** whether look-ups of contacts are limited */
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
      const made = await shareOrInvite(database, notifier, share, registered, new Date());
      return { status: 201, answer: JSON.stringify(asOutcome(made)) };
    });
    notifier.wake();
    return sendIdempotentAnswer(reply, done);
  });

  app.get('/shares/inbox', { schema: inboxSchema, config: { forPeople: true } }, async (request, reply) => {
    const { user_id, status, limit, cursor } = request.query;
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
    return sendList(reply, 'shares', limit, shares, asListItem);
  });

  for (const [verb, operationId, status] of [
    ['accept', 'acceptShare', 'accepted'],
    ['reject', 'rejectShare', 'rejected'],
  ] as const) {
    const schema = decideSchema(operationId, verb);
    app.post(`/shares/:share_id/${verb}`, { schema, ...optionalBody }, async request => {
      const userId = await namedUser(request, 'user_id', request.body.user_id);
      const { anonymous } = request;
      return asItem(await acceptOrReject(pool, request.params.share_id, { userId, anonymous }, status));
    });
  }

  registerInvitations(app, pool, notifier);
}

function registerInvitations(app: Server, pool: pg.Pool, notifier: Notifier): void {
  app.post(
    '/invitations/:token/accept',
    { schema: acceptInvitationSchema, ...optionalBody },
    async (request, reply) => {
      const userId = await namedUser(request, 'user_id', request.body.user_id);
      const done = await runIdempotent(pool, readKey(request), async database => {
        const { contact, shares } = await acceptInvitation(
          database,
          notifier,
          request.params.token,
          { userId, anonymous: request.anonymous },
          new Date(),
        );
        const message =
          shares === 1 ? '1 packet was shared with you' : `${shares} packets were shared with you`;
        return {
          status: 200,
          answer: JSON.stringify({ user_id: userId, contact_value: contact, shares, message }),
        };
      });
      notifier.wake();
      return sendIdempotentAnswer(reply, done);
    },
  );

  registerLandingPage(app, {
    path: '/invitations/:token',
    operationId: 'showInvitation',
    tag: 'Shares',
    title: 'An invitation',
    sentence:
      'Somebody wants to share observations from the field with you. If you accept, others can find you by this ' +
      'address, and what was shared with it is yours to read.',
    button: 'Accept',
    action: '/accept',
    asksForUser: true,
    request: 'POST {"user_id": "…"} to this address, followed by /accept.',
  });
}

/**
 * Looks up a share's contact in the user registry, unless the packet is already shared or the directory knows the
 * contact. Outside the transaction, because a slow registry must not hold a connection.
 *
 * @throws Problem too_many_requests
 */
async function lookUp(
  { pool, askRegistry, limitsContacts }: Sharing,
  request: FastifyRequest,
  share: ShareKey,
) {
  const earlier = await findShare(pool, share);
  if (earlier && earlier.status !== 'invited') return undefined;
  if (limitsContacts) {
    await transaction(pool, database => limitSender(database, request, share.fromUser, share.contact));
  }
  return (await findHolder(pool, share.contact)) ? undefined : askRegistry(share.contact);
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

function asListItem(share: Share): Item {
  const item = asItem(share);
  return { json: JSON.stringify(item), cursor: item.share_id };
}
