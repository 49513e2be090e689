import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { callerOf } from '../../access/authentication.ts';
import { Done, envelope, failureAnswers, ok } from '../../contract/envelope.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { type AccountContext, confirmEmail, register, resetPassword, updateProfile } from './account.ts';
import { emailKeyOf } from '../users/email.ts';
import { registerLandingPages } from './landing.ts';
import { Address, Confirmation, PasswordReset, ProfileUpdate, Registration, User } from '../users/schemas.ts';
import { findUsers, type User as UserRow } from '../users/store.ts';
import { asUser } from '../users/user.ts';

/** What anybody may ask for is limited by address, in calls per quarter of an hour. */
const FEW = { guarded: true, rateLimit: { max: 20, timeWindow: 15 * 60_000 } };

export interface UsersContext extends AccountContext {
  sessions: Sessions;
  companiesOf: (userId: number) => Promise<number[]>;
}

export function registerUsers(app: Server, context: UsersContext): void {
  const answer = async (user: UserRow) => ok(asUser(user, await context.companiesOf(user.id)));
  const answers = (description: string) => ({ 200: envelope(User, description), ...failureAnswers() });
  const tags = ['User'];

  app.post(
    '/api/user/register',
    {
      config: { access: 'open', ...FEW },
      schema: {
        tags,
        summary: 'Open an account',
        description: 'A mail with a token goes to the address. An administrator activates the account.',
        body: Registration,
        response: answers('the new user, not yet active'),
      },
    },
    async request => answer(await register(context, request, request.body)),
  );

  app.post(
    '/api/user/confirm_email',
    {
      config: { access: 'open', ...FEW },
      schema: {
        tags,
        summary: 'Confirm an address by the token mailed to it',
        body: Confirmation,
        response: answers('the user, whose address is confirmed'),
      },
    },
    async request => answer(await confirmEmail(context, request, request.body.token)),
  );

  registerMailedTokens(app, context);
  registerProfile(app, context, answer);
  registerLandingPages(app);
}

function registerMailedTokens(app: Server, context: UsersContext): void {
  const tags = ['User'];
  for (const [path, summary, purpose] of [
    ['resend_confirmation', 'Have the mail sent again that confirms an address', 'CONFIRM_EMAIL'],
    ['request_reset_password', 'Have a token mailed that sets a new password', 'RESET_PASSWORD'],
  ] as const) {
    app.post(
      `/api/user/${path}`,
      {
        config: { access: 'open', ...FEW },
        schema: {
          tags,
          summary,
          description: 'Answers the same for every address. One mail in five minutes, at most.',
          body: Address,
          response: { 200: Done, ...failureAnswers() },
        },
      },
      async ({ body }) => {
        await context.mails.ask(purpose, emailKeyOf(body.email));
        return { status: 'OK' as const };
      },
    );
  }

  app.post(
    '/api/user/reset_password',
    {
      config: { access: 'open', ...FEW },
      schema: {
        tags,
        summary: 'Set a password by a mailed token',
        description: 'Ends every session of the user, who is told by mail.',
        body: PasswordReset,
        response: { 200: Done, ...failureAnswers() },
      },
    },
    async request => {
      await resetPassword(context, request, request.body);
      return { status: 'OK' as const };
    },
  );
}

function registerProfile(
  app: Server,
  context: UsersContext,
  answer: (user: UserRow) => Promise<{ status: 'OK'; data: ReturnType<typeof asUser> }>,
): void {
  const { pool, sessions } = context;
  // Many at once share one query; each still sees what had been committed when it came in.
  const findSoon = batchLoader<number, UserRow | undefined>(ids => findUsers(pool, ids), { max: 200 });
  app.get(
    '/api/user/profile',
    {
      config: { access: 'user', beforeSecondFactor: true },
      schema: {
        tags: ['User'],
        summary: 'Who is logged in',
        response: { 200: envelope(User, 'the user'), ...failureAnswers(401) },
      },
    },
    async request => {
      const user = await findSoon(callerOf(request).id);
      if (!user) throw new Problem('not_found', 'there is no such user');
      return answer(user);
    },
  );

  app.put(
    '/api/user/profile',
    {
      config: { access: 'user' },
      schema: {
        tags: ['User'],
        summary: 'Change what is known of oneself',
        description:
          'What is left out stays. Another password needs the current one, ends every session, and begins a new one here.',
        body: ProfileUpdate,
        response: { 200: envelope(User, 'the user'), ...failureAnswers(401, 404) },
      },
    },
    async (request, reply) => {
      const user = await updateProfile(context, request, callerOf(request).id, request.body);
      if (request.body.password !== undefined) {
        await sessions.beginAnew(request, reply, user, callerOf(request).secondFactor);
      }
      return answer(user);
    },
  );
}
