import type { Server } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { requiredFactor } from '../second-factor/factor.ts';
import { countRecoveryCodes } from '../second-factor/store.ts';
import type { Cookies } from '../sessions/cookies.ts';
import type { Sessions } from '../sessions/sessions.ts';
import {
  beginFactorSchema,
  confirmFactorSchema,
  getFactorSchema,
  removeFactorSchema,
  renewRecoveryCodesSchema,
} from './schemas.ts';
import {
  beginFactor,
  confirmNewFactor,
  type FactorContext,
  removeFactor,
  renewRecoveryCodes,
} from './setup.ts';

/** Users who must set up a second factor first may call only these routes. */
const config = { access: 'user', beforeSecondFactor: true } as const;

/** A user's second factor: a code of an authenticator app after the password, at each login. */
export function registerSecondFactor(
  app: Server,
  context: FactorContext & { sessions: Sessions; cookies: Cookies },
): void {
  const { pool, requirement, sessions, cookies } = context;

  app.get('/api/user/second_factor', { config, schema: getFactorSchema }, async request => {
    const { id, role } = callerOf(request);
    const enabled = (await requiredFactor(pool, id)) !== undefined;
    const recoveryCodes = await countRecoveryCodes(pool, id);
    return ok({ enabled, required: requirement.needs(role), recoveryCodes });
  });

  app.post(
    '/api/user/second_factor/begin',
    { config: { ...config, keyScope: 'none' }, schema: beginFactorSchema },
    async request => {
      const begun = await beginFactor(context, requesterOf(request), request.body.currentPassword);
      const { default: qrcode } = await import('qrcode');
      const qr = await qrcode.toString(begun.uri, { type: 'svg', errorCorrectionLevel: 'M' });
      return ok({ ...begun, qr });
    },
  );

  app.post(
    '/api/user/second_factor/confirm',
    { config: { ...config, keyScope: 'none' }, schema: confirmFactorSchema },
    async (request, reply) => {
      const recoveryCodes = await confirmNewFactor(context, requesterOf(request), request.body.code);
      cookies.set(reply, await sessions.signAnew(callerOf(request)));
      return ok({ recoveryCodes });
    },
  );

  registerProven(app, context);
}

/** The routes for users who have a second factor. */
function registerProven(app: Server, context: FactorContext): void {
  app.post(
    '/api/user/second_factor/recovery_codes',
    { config: { access: 'user', keyScope: 'none' }, schema: renewRecoveryCodesSchema },
    async request =>
      ok({ recoveryCodes: await renewRecoveryCodes(context, requesterOf(request), request.body) }),
  );

  app.post(
    '/api/user/second_factor/remove',
    { config: { access: 'user', keyScope: 'none' }, schema: removeFactorSchema },
    async request => {
      await removeFactor(context, requesterOf(request), request.body);
      return { status: 'OK' as const };
    },
  );
}
