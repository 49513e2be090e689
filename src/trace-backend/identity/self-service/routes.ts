import type { FastifyRequest } from 'fastify';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { missingScope } from '../../../platform/tokens/api-key.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { ok } from '../../base/contract/envelope.ts';
import { type Cookies, clientOf } from '../sessions/cookies.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { emailKeyOf } from '../users/email.ts';
import { findAccount, findUser, type User as UserRow } from '../users/store.ts';
import { asUser, type UserCompanies } from '../users/user.ts';
import { type AccountContext, confirmEmail, register, resetPassword, updateProfile } from './account.ts';
import { registerLandingPages } from './landing.ts';
import {
  confirmEmailSchema,
  getProfileSchema,
  mailedTokenSchema,
  registerSchema,
  resetPasswordSchema,
  updateProfileSchema,
} from './schemas.ts';

/** The rate limit of open routes, per address. */
const RATE_LIMIT = { guarded: true, rateLimit: { max: 20, timeWindow: 15 * 60_000 } };

interface UsersContext extends AccountContext {
  sessions: Sessions;
  cookies: Cookies;
  companiesOf: (userId: number) => Promise<UserCompanies>;
}

export function registerUsers(app: Server, context: UsersContext): void {
  const answer = async (user: UserRow) => ok(asUser(user, await context.companiesOf(user.id)));

  app.post(
    '/api/user/register',
    { config: { access: 'open', ...RATE_LIMIT }, schema: registerSchema },
    async request => answer(await register(context, request, request.body)),
  );

  app.post(
    '/api/user/confirm_email',
    { config: { access: 'open', ...RATE_LIMIT }, schema: confirmEmailSchema },
    async request => answer(await confirmEmail(context, request, request.body)),
  );

  registerMailedTokens(app, context);
  registerProfile(app, context, answer);
  registerLandingPages(app);
}

function registerMailedTokens(app: Server, context: UsersContext): void {
  for (const [path, operationId, summary, description, purpose] of [
    [
      'resend_confirmation',
      'resendConfirmation',
      'Resend the confirmation email',
      "Sends the email if the owner of the address hasn't confirmed it yet, even if the account is active.",
      'CONFIRM_EMAIL',
    ],
    [
      'request_reset_password',
      'requestPasswordReset',
      'Request an email to set a new password',
      'If someone else registered the address, its owner takes over the account with this email.',
      'RESET_PASSWORD',
    ],
  ] as const) {
    app.post(
      `/api/user/${path}`,
      {
        config: { access: 'optional-user', ...RATE_LIMIT },
        schema: mailedTokenSchema(operationId, summary, description),
      },
      async request => {
        const emailKey = emailKeyOf(request.body.email);
        const isAudited = await auditAdminRequest(context, request, { purpose, emailKey });
        await context.mails.ask(purpose, emailKey, isAudited ? undefined : requestedBy(request, purpose));
        return { status: 'OK' as const };
      },
    );
  }

  app.post(
    '/api/user/reset_password',
    { config: { access: 'open', ...RATE_LIMIT }, schema: resetPasswordSchema },
    async (request, reply) => {
      const userId = await resetPassword(context, request, request.body);
      const tokens = await context.sessions.loginAfterReset(clientOf(request), userId);
      if (tokens) context.cookies.set(reply, tokens);
      return { status: 'OK' as const };
    },
  );
}

/** The requester of a new password, for its mail. */
function requestedBy({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>, purpose: string) {
  return purpose === 'RESET_PASSWORD' ? { ip, ...(caller && { userId: caller.id }) } : undefined;
}

/** Audits the request if an administrator made it for another user; returns whether that is so. */
async function auditAdminRequest(
  { pool }: UsersContext,
  { caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>,
  { purpose, emailKey }: { purpose: 'CONFIRM_EMAIL' | 'RESET_PASSWORD'; emailKey: string },
): Promise<boolean> {
  if (!caller || caller.role === 'USER') return false;
  const account = await findAccount(pool, emailKey);
  if (!account || account.id === caller.id) return false;
  const action = purpose === 'CONFIRM_EMAIL' ? 'RESEND_CONFIRMATION' : 'SEND_PASSWORD_LINK';
  await audit(pool, { caller, ip }, { action, entity: 'user', entityId: account.id });
  return true;
}

function registerProfile(
  app: Server,
  context: UsersContext,
  answer: (user: UserRow) => Promise<{ status: 'OK'; data: ReturnType<typeof asUser> }>,
): void {
  const { pool, sessions, cookies } = context;
  app.get(
    '/api/user/profile',
    { config: { access: 'user', beforeSecondFactor: true }, schema: getProfileSchema },
    async request => {
      const user = await findUser(pool, callerOf(request).id);
      if (!user) throw new Problem('user.unknown');
      return answer(user);
    },
  );

  app.put(
    '/api/user/profile',
    { config: { access: 'user' }, schema: updateProfileSchema },
    async (request, reply) => {
      if (request.body.password !== undefined && callerOf(request).sessionId === undefined) {
        throw new Problem([missingScope('none')]);
      }
      const user = await updateProfile(context, requesterOf(request), request.body);
      if (request.body.password !== undefined) {
        const { secondFactor } = callerOf(request);
        cookies.set(reply, await sessions.beginAnew(clientOf(request), user, secondFactor));
      }
      return answer(user);
    },
  );
}
