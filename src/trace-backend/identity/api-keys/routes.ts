import type pg from 'pg';
import { optionalBody } from '../../../platform/http/optional-body.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import type { KeyHolder } from '../../../platform/tokens/user-registry.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { createKey, revokeKey } from './keys.ts';
import { createApiKeySchema, listApiKeysSchema, resolveApiKeySchema, revokeApiKeySchema } from './schemas.ts';
import { type ApiKey, listApiKeys, MAX_API_KEYS } from './store.ts';

const PATH = '/api/user/api-keys';
/** Rate limit of creating keys per address. */
const RATE_LIMIT = { guarded: true, rateLimit: { max: 60, timeWindow: 15 * 60_000 } };
/** Keys cannot manage keys. */
const keyScope = 'none';

interface ApiKeysContext {
  pool: pg.Pool;
  box: SecretBox;
  /** notified when keys of a user have ended */
  endings: { notify(userId: number): void };
  isServiceToken: (token: string) => Promise<boolean>;
  findKeyHolder: (hash: Buffer) => Promise<KeyHolder | undefined>;
}

/** Keys for programs. */
export function registerApiKeys(app: Server, context: ApiKeysContext): void {
  const { pool, endings } = context;

  app.post(
    PATH,
    { config: { access: 'user', keyScope, ...RATE_LIMIT }, schema: createApiKeySchema },
    async request => {
      const { key, ...created } = await createKey(context, requesterOf(request), request.body);
      return ok({ ...asItem(created), key });
    },
  );

  app.get(PATH, { config: { access: 'user', keyScope }, schema: listApiKeysSchema }, async request => {
    const keys = await listApiKeys(pool, callerOf(request).id, new Date());
    const items = keys.map(key => ({
      ...asItem(key),
      ...(key.lastUsedAt && { lastUsedAt: key.lastUsedAt.toISOString() }),
    }));
    return ok({ items, count: items.length, offset: 0, limit: MAX_API_KEYS });
  });

  app.delete(
    `${PATH}/:id`,
    {
      ...optionalBody,
      config: { access: 'user', keyScope, ...optionalBody.config },
      schema: revokeApiKeySchema,
    },
    async request => {
      const requester = requesterOf(request);
      await revokeKey(context, requester, request.params.id, request.body.code);
      endings.notify(requester.caller.id);
      return { status: 'OK' as const };
    },
  );

  registerResolving(app, context);
}

/** The look-up of keys for packet services in other processes. */
function registerResolving(app: Server, { isServiceToken, findKeyHolder }: ApiKeysContext): void {
  app.post(
    `${PATH}/resolve`,
    { config: { access: 'open' }, schema: resolveApiKeySchema },
    async ({ body, headers }, reply) => {
      const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
      if (!(await isServiceToken(token))) {
        reply.header('www-authenticate', 'Bearer');
        throw new Problem('service_token.required');
      }
      const holder = await findKeyHolder(Buffer.from(body.sha256, 'hex'));
      if (!holder) throw new Problem('key.not_resolved');
      const { userId: user_id, role, scopes, expiresAt, lacksFactor: lacks_second_factor } = holder;
      const expires_at = expiresAt.toISOString();
      const answer = { user_id, role, scopes: [...scopes], expires_at, lacks_second_factor };
      return { status: 'OK' as const, data: answer, ...answer };
    },
  );
}

function asItem({ id, name, scopes, createdAt, expiresAt }: Omit<ApiKey, 'lastUsedAt'>) {
  return { id, name, scopes, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
