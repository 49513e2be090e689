import { Type } from 'typebox';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { transaction } from '../../../platform/postgres/database.ts';
import { callerOf } from '../../access/authentication.ts';
import { audit } from '../../audit/audit.ts';
import { Done, envelope, failureAnswers, ok } from '../../contract/envelope.ts';
import { DateTime } from '../../contract/schemas.ts';
import { CurrentPassword } from '../factor-setup/schemas.ts';
import { Confirmation, Email } from '../users/schemas.ts';
import { confirmEmailChange, type EmailChangeContext, forgetChange, requestEmailChange } from './change.ts';
import { findEmailChange } from './store.ts';

const tags = ['User'];
const PATH = '/api/user/email_change';
const FEW = { guarded: true, rateLimit: { max: 20, timeWindow: 15 * 60_000 } };

const Change = Type.Object({
  email: Type.String({ description: 'the new address', examples: ['ana@example.org'] }),
  oldConfirmed: Type.Boolean({ description: 'whether the present address has confirmed it' }),
  newConfirmed: Type.Boolean({ description: 'whether the new address has confirmed it' }),
  expiresAt: DateTime,
});

/** Changes of a user's e-mail address. */
export function registerEmailChange(app: Server, context: EmailChangeContext): void {
  app.post(
    PATH,
    {
      config: { access: 'user', ...FEW },
      schema: {
        tags,
        summary: 'Change the e-mail address',
        description:
          'Mails a token to the present and to the new address. The change is made when both are confirmed, within 72 hours. Once in five minutes.',
        body: Type.Object({ email: Email, currentPassword: CurrentPassword }),
        response: { 200: Done, ...failureAnswers(401) },
      },
    },
    async request => {
      await requestEmailChange(context, request, request.body);
      return { status: 'OK' as const };
    },
  );

  app.post(
    `${PATH}/confirm`,
    {
      config: { access: 'open', ...FEW },
      schema: {
        tags,
        summary: 'Confirm a change of address by a mailed token',
        body: Confirmation,
        response: {
          200: envelope(
            Type.Object({
              changed: Type.Boolean({ description: 'false: the other address is still asked' }),
            }),
            'what became of it',
          ),
          ...failureAnswers(),
        },
      },
    },
    async request => ok({ changed: await confirmEmailChange(context, request, request.body.token) }),
  );

  registerPending(app, context);
}

/** The caller's change that waits. */
function registerPending(app: Server, { pool }: EmailChangeContext): void {
  app.get(
    PATH,
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'The change of address that waits to be confirmed',
        response: { 200: envelope(Change, 'the change'), ...failureAnswers(401, 404) },
      },
    },
    async request => {
      const change = await findEmailChange(pool, callerOf(request).id, new Date());
      if (!change) throw new Problem('not_found', 'no change of address waits to be confirmed');
      const { email, oldConfirmedAt, newConfirmedAt, expiresAt } = change;
      return ok({
        email,
        oldConfirmed: oldConfirmedAt !== null,
        newConfirmed: newConfirmedAt !== null,
        expiresAt: expiresAt.toISOString(),
      });
    },
  );

  app.delete(
    PATH,
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Give up a change of address',
        response: { 200: Done, ...failureAnswers(401, 404) },
      },
    },
    async request => {
      const { id } = callerOf(request);
      await transaction(pool, async database => {
        const found = await forgetChange(database, id);
        if (!found) throw new Problem('not_found', 'no change of address waits to be confirmed');
        await audit(database, request, { action: 'CANCEL_EMAIL_CHANGE', entity: 'user', entityId: id });
      });
      return { status: 'OK' as const };
    },
  );
}
