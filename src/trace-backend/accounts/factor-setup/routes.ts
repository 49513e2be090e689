import QRCode from 'qrcode';
import type { Server } from '../../../platform/http/server.ts';
import { callerOf } from '../../access/authentication.ts';
import { Done, envelope, failureAnswers, ok } from '../../contract/envelope.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { requiredFactor } from '../second-factor/factor.ts';
import { BothProofs, CodeProof, FactorState, NewFactor, PasswordProof, RecoveryCodes } from './schemas.ts';
import {
  beginFactor,
  confirmNewFactor,
  type FactorContext,
  removeFactor,
  renewRecoveryCodes,
} from './setup.ts';
import { countRecoveryCodes } from '../second-factor/store.ts';

const tags = ['User'];
/** Whoever must set a factor up first has nothing but these. */
const config = { access: 'user', beforeSecondFactor: true } as const;

/** A user's second factor: a code of an app beside the password, at each login. */
export function registerSecondFactor(app: Server, context: FactorContext & { sessions: Sessions }): void {
  const { pool, requirement, sessions } = context;

  app.get(
    '/api/user/second_factor',
    {
      config,
      schema: {
        tags,
        summary: 'Whether the caller`s logins need a second factor',
        response: { 200: envelope(FactorState, 'the second factor'), ...failureAnswers(401) },
      },
    },
    async request => {
      const { id, role } = callerOf(request);
      const enabled = (await requiredFactor(pool, id)) !== undefined;
      const recoveryCodes = await countRecoveryCodes(pool, id);
      return ok({ enabled, required: requirement.needs(role), recoveryCodes });
    },
  );

  app.post(
    '/api/user/second_factor/begin',
    {
      config,
      schema: {
        tags,
        summary: 'Set a second factor up',
        description: 'Gives a secret for an authenticator app (TOTP, RFC 6238). It counts once confirmed.',
        body: PasswordProof,
        response: { 200: envelope(NewFactor, 'the secret'), ...failureAnswers(401) },
      },
    },
    async request => {
      const made = await beginFactor(context, request, request.body.currentPassword);
      const qr = await QRCode.toString(made.uri, { type: 'svg', errorCorrectionLevel: 'M' });
      return ok({ ...made, qr });
    },
  );

  app.post(
    '/api/user/second_factor/confirm',
    {
      config,
      schema: {
        tags,
        summary: 'Confirm a second factor by a code of it',
        description:
          'From now on logins need a code. Answers recovery codes, and sets the access cookie anew.',
        body: CodeProof,
        response: { 200: envelope(RecoveryCodes, 'the recovery codes'), ...failureAnswers(401) },
      },
    },
    async (request, reply) => {
      const recoveryCodes = await confirmNewFactor(context, request, request.body.code);
      await sessions.signAnew(reply, callerOf(request));
      return ok({ recoveryCodes });
    },
  );

  registerProven(app, context);
}

/** What a user who has a factor does with it. */
function registerProven(app: Server, context: FactorContext): void {
  app.post(
    '/api/user/second_factor/recovery_codes',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Get other recovery codes',
        description: 'Those before end.',
        body: BothProofs,
        response: { 200: envelope(RecoveryCodes, 'the recovery codes'), ...failureAnswers(401) },
      },
    },
    async request => ok({ recoveryCodes: await renewRecoveryCodes(context, request, request.body) }),
  );

  app.post(
    '/api/user/second_factor/remove',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Remove the second factor',
        description: 'Not where the role needs one. The user is told by mail.',
        body: BothProofs,
        response: { 200: Done, ...failureAnswers(401) },
      },
    },
    async request => {
      await removeFactor(context, request, request.body);
      return { status: 'OK' as const };
    },
  );
}
