import type pg from 'pg';
import { optionalBody } from '../../../../platform/http/optional-body.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import type { Server } from '../../../../platform/http/server.ts';
import { secretHash } from '../../../../platform/tokens/secret.ts';
import { type ActingCaller, namedUser } from '../../../core/access/caller.ts';
import { readKey, runIdempotent, sendIdempotentAnswer } from '../../../core/idempotency/idempotency.ts';
import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { findSummaries } from '../../../core/packets/summary-store.ts';
import { readContact } from '../directory/contact.ts';
import type { LookUpHolder } from '../directory/discoverability.ts';
import { holderOf } from '../directory/holder.ts';
import { registerLandingPage } from '../directory/landing.ts';
import { type FindSenderNames, fromName } from '../directory/sender-names.ts';
import { findEntered } from '../directory/store.ts';
import type { Notifier } from '../notifications/notifier.ts';
import {
  acceptInvitationSchema,
  acceptWaitingSchema,
  checkInvitationSchema,
  listInvitationsSchema,
} from './schemas.ts';
import { acceptInvitation, acceptWaiting, noInvitation } from './share.ts';
import { findToken, listInvitations } from './store.ts';

/** Dependencies of invitations. */
interface Inviting {
  pool: pg.Pool;
  notifier: Notifier;
  lookUpHolder: LookUpHolder;
  findSenderNames: FindSenderNames;
}

/** Maximum invitations that are listed. */
const LISTED = 100;

/** Invitations: those of mails, which are accepted by their token, and those that wait for an address of the caller. */
export function registerInvitations(app: Server, inviting: Inviting): void {
  registerMailed(app, inviting);
  registerWaiting(app, inviting);
}

function registerMailed(app: Server, inviting: Inviting): void {
  const { pool, notifier } = inviting;
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
          { userId, hasToken: request.user !== undefined, anonymous: request.anonymous },
          new Date(),
        );
        return accepted(userId, contact, shares);
      });
      notifier.wake();
      return sendIdempotentAnswer(reply, done);
    },
  );

  app.get('/invitations/:token/expiry', { schema: checkInvitationSchema }, async (request, reply) => {
    const invitation = await findToken(pool, secretHash(request.params.token), new Date());
    if (!invitation) throw noInvitation();
    reply.header('cache-control', 'no-store');
    const { contact } = invitation;
    const expires_at = invitation.expiresAt.toISOString();
    if (request.user === undefined) return { expires_at };
    const is_own = await hasContact(inviting, request, contact, request.user);
    // Invitations with another answer are not offered again.
    if (is_own && (await listInvitations(pool, contact, 1)).length === 0) throw noInvitation();
    return { expires_at, is_own };
  });

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

/** Routes for users with an address that the directory or the user registry has confirmed. */
function registerWaiting(app: Server, inviting: Inviting): void {
  const { pool, notifier } = inviting;
  app.get('/invitations', { schema: listInvitationsSchema }, async request => {
    const { contact } = await ownContact(inviting, request, request.query);
    const invitations = await listInvitations(pool, contact, LISTED);
    const names = request.user === undefined ? undefined : await inviting.findSenderNames(invitations);
    const ids = request.query.details === 'true' ? invitations.map(({ packetId }) => packetId) : [];
    const summaries = ids.length > 0 ? await findSummaries(pool, ids) : undefined;
    return {
      invitations: invitations.map(invitation => {
        const packet = summaries?.get(invitation.packetId);
        return {
          invitation_id: uuidToUlid(invitation.shareId),
          from_user: invitation.fromUser,
          ...fromName(names, invitation),
          ...(packet && { packet }),
          created_at: invitation.createdAt.toISOString(),
        };
      }),
    };
  });

  app.post('/invitations/accept', { schema: acceptWaitingSchema }, async (request, reply) => {
    const { contact, userId } = await ownContact(inviting, request, request.body);
    const done = await runIdempotent(pool, readKey(request), async database => {
      const shares = await acceptWaiting(database, notifier, { contact, userId }, new Date());
      return accepted(userId, contact, shares);
    });
    notifier.wake();
    return sendIdempotentAnswer(reply, done);
  });
}

function accepted(user_id: string, contact_value: string, shares: number) {
  const message = shares === 1 ? '1 packet was shared with you' : `${shares} packets were shared with you`;
  return { status: 200, answer: JSON.stringify({ user_id, contact_value, shares, message }) };
}

/**
 * Whether a contact is a user's, as the user registry or the directory says. Where tokens are checked, it must be proven.
 *
 * @param userId as whom the caller acts
 */
export async function hasContact(
  { pool, lookUpHolder }: Pick<Inviting, 'pool' | 'lookUpHolder'>,
  { user }: Pick<ActingCaller, 'user'>,
  contact: string,
  userId: string,
): Promise<boolean> {
  const holder = holderOf(await lookUpHolder(contact), await findEntered(pool, contact));
  return holder?.userId === userId && (holder.isProven || user === undefined);
}

/**
 * The caller, and a contact that is theirs. Others' contacts and unknown ones get the same answer.
 *
 * @throws Problem unauthenticated, invalid, forbidden
 */
async function ownContact(
  inviting: Inviting,
  caller: ActingCaller,
  { user_id, contact_value }: { user_id?: string; contact_value: string },
): Promise<{ contact: string; userId: string }> {
  if (caller.anonymous) {
    throw new Problem('invitation.list_needs_token');
  }
  const userId = await namedUser(caller, 'user_id', user_id);
  const contact = readContact(contact_value, 'contact_value');
  if (!(await hasContact(inviting, caller, contact, userId)))
    throw new Problem('invitation.contact_not_confirmed', { field: 'contact_value' });
  return { contact, userId };
}
