import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentDisposition } from '../../platform/http/disposition.ts';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import type { Slots } from '../../platform/limits/slots.ts';
import { EXPORTS } from '../../platform/personal-data/personal-data.ts';
import { zipOf } from '../../platform/personal-data/zip.ts';
import type { SecretBox } from '../../platform/tokens/secret-box.ts';
import { callerOf } from '../base/access/authentication.ts';
import { audit } from '../base/audit/audit.ts';
import { ok } from '../base/contract/envelope.ts';
import { idOf, pathIdOf } from '../base/contract/schemas.ts';
import { checkCurrentPassword } from '../identity/attempts/current-password.ts';
import { checkFreshCode } from '../identity/second-factor/factor.ts';
import type { Cookies } from '../identity/sessions/cookies.ts';
import type { Endings } from '../identity/sessions/endings.ts';
import { findUser } from '../identity/users/store.ts';
import { closeAccount, type ErasureContext, finishErasure } from './erase.ts';
import { type ExportContext, personalFiles } from './export.ts';
import { eraseOwnSchema, eraseUserSchema, exportOwnSchema, exportUserSchema } from './schemas.ts';

interface PersonalDataContext extends ExportContext, ErasureContext {
  box: SecretBox;
  endings: Endings;
  cookies: Cookies;
  slots: Slots;
}

/** Retry-After while another export is running, in seconds. */
const BUSY_SECONDS = 30;
/** Maximum duration of an export, in milliseconds: it is aborted if its client reads too slowly. */
const MAX_EXPORT_MS = 3600_000;
const RATE_LIMIT = { rateLimit: { max: 10, timeWindow: 3600_000 } };

/** Export and erasure of a user's personal data. */
export function registerPersonalData(app: Server, context: PersonalDataContext): void {
  const send = exporter(context);

  app.get(
    '/api/user/export',
    { config: { access: 'user', ...RATE_LIMIT }, schema: exportOwnSchema },
    async (request, reply) => send(request, reply, callerOf(request).id),
  );

  app.get(
    '/api/user/admin/export/:id',
    { config: { access: 'system-admin' }, schema: exportUserSchema },
    async (request, reply) => {
      const user = await findUser(context.pool, pathIdOf(request.params.id));
      if (!user) throw new Problem('user.unknown');
      return send(request, reply, user.id);
    },
  );

  registerErasure(app, context);
}

/**
 * Sends exports: one at a time per user in all processes, and few at once in this process, because each holds a
 * connection while its client reads.
 */
function exporter(context: PersonalDataContext) {
  let running = 0;
  const alreadyRunning = () => new Problem('export.running', {}, { retryAfter: BUSY_SECONDS });
  return async (request: FastifyRequest, reply: FastifyReply, userId: number) => {
    if (running >= EXPORTS) throw alreadyRunning();
    running++;
    let release: (() => void) | undefined;
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      running--;
      release?.();
    };
    try {
      release = await context.slots.take('exports of a user', String(userId), 1);
      if (!release) throw alreadyRunning();
      await audit(context.pool, request, { action: 'EXPORT_USER', entity: 'user', entityId: userId });
      const now = new Date();
      const archive = zipOf(personalFiles(context, userId, now), now);
      const deadline = setTimeout(() => archive.destroy(), MAX_EXPORT_MS);
      archive.once('close', () => {
        clearTimeout(deadline);
        end();
      });
      const name = `fieldtrace-user-${userId}-${now.toISOString().slice(0, 10)}.zip`;
      return reply
        .header('content-disposition', contentDisposition(name))
        .type('application/zip')
        .send(archive);
    } catch (error) {
      end();
      throw error;
    }
  };
}

function registerErasure(app: Server, context: PersonalDataContext): void {
  const { pool, box, endings, cookies } = context;
  async function erase(request: FastifyRequest, userId: number) {
    endings.notify(userId);
    try {
      return ok({ complete: true, packetService: await finishErasure(context, userId) });
    } catch (error) {
      request.log.error({ err: error, user_id: userId }, 'an erasure is not complete; next try in an hour');
      return ok({ complete: false, packetService: false });
    }
  }

  app.post(
    '/api/user/erase',
    { config: { access: 'user', keyScope: 'none', ...RATE_LIMIT }, schema: eraseOwnSchema },
    async (request, reply) => {
      const { id } = callerOf(request);
      const { currentPassword, code } = request.body;
      const account = await checkCurrentPassword(context, id, currentPassword);
      await checkFreshCode({ pool, box }, id, code);
      await closeAccount(pool, request, id, account);
      cookies.clear(reply);
      return erase(request, id);
    },
  );

  app.post(
    '/api/user/admin/erase',
    { config: { access: 'system-admin' }, schema: eraseUserSchema },
    async request => {
      const id = idOf(request.body.id);
      if (id === callerOf(request).id) throw new Problem('user.erasing_yourself');
      await closeAccount(pool, request, id);
      return erase(request, id);
    },
  );
}
