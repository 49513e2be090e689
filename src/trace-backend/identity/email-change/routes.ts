import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { ok } from '../../base/contract/envelope.ts';
import { confirmEmailChange, type EmailChangeContext, forgetChange, requestEmailChange } from './change.ts';
import {
  cancelEmailChangeSchema,
  confirmEmailChangeSchema,
  getEmailChangeSchema,
  requestEmailChangeSchema,
} from './schemas.ts';
import { findEmailChange } from './store.ts';

const PATH = '/api/user/email_change';
const RATE_LIMIT = { guarded: true, rateLimit: { max: 20, timeWindow: 15 * 60_000 } };

/** Changes of a user's email address. */
export function registerEmailChange(app: Server, context: EmailChangeContext): void {
  app.post(
    PATH,
    { config: { access: 'user', keyScope: 'none', ...RATE_LIMIT }, schema: requestEmailChangeSchema },
    async request => {
      await requestEmailChange(context, requesterOf(request), request.body);
      return { status: 'OK' as const };
    },
  );

  app.post(
    `${PATH}/confirm`,
    { config: { access: 'open', ...RATE_LIMIT }, schema: confirmEmailChangeSchema },
    async request => ok({ changed: await confirmEmailChange(context, request, request.body) }),
  );

  registerPending(app, context);
}

/** The caller's pending change. */
function registerPending(app: Server, { pool }: EmailChangeContext): void {
  app.get(PATH, { config: { access: 'user' }, schema: getEmailChangeSchema }, async request => {
    const change = await findEmailChange(pool, callerOf(request).id, new Date());
    if (!change) return { status: 'OK' as const };
    const { email, oldConfirmedAt, newConfirmedAt, expiresAt } = change;
    return ok({
      email,
      oldConfirmed: oldConfirmedAt !== null,
      newConfirmed: newConfirmedAt !== null,
      expiresAt: expiresAt.toISOString(),
    });
  });

  app.delete(
    PATH,
    { config: { access: 'user', keyScope: 'none' }, schema: cancelEmailChangeSchema },
    async request => {
      const { id } = callerOf(request);
      await transaction(pool, async database => {
        const found = await forgetChange(database, id);
        if (!found) throw new Problem('email_change.unknown');
        await audit(database, request, { action: 'CANCEL_EMAIL_CHANGE', entity: 'user', entityId: id });
      });
      return { status: 'OK' as const };
    },
  );
}
