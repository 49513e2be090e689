import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { Keys } from '../../base/signing-keys/keys.ts';
import { findHolder } from './find-users.ts';
import { discoverabilitySchema, publicKeysSchema } from './schemas.ts';

/** The trace backend as a user registry of the packet service: look-up of contacts, and public keys. */
export function registerDiscoverability(
  app: Server,
  {
    pool,
    keys,
    isServiceToken,
  }: { pool: pg.Pool; keys: Keys; isServiceToken: (token: string) => Promise<boolean> },
): void {
  app.get(
    '/api/discoverability',
    { config: { access: 'open' }, schema: discoverabilitySchema },
    async ({ query, headers }, reply) => {
      const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
      if (!(await isServiceToken(token))) {
        reply.header('www-authenticate', 'Bearer');
        throw new Problem('service_token.required');
      }
      const holder = await findHolder(pool, query.contact);
      if (!holder) throw new Problem('contact.unknown');
      return { status: 'OK' as const, data: holder, ...holder };
    },
  );

  app.get(
    '/.well-known/jwks.json',
    { config: { access: 'open' }, schema: publicKeysSchema },
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=60');
      return { keys: (await keys.publicKeys()).keys as object[] };
    },
  );
}
