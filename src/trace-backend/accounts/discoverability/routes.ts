import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { Keys } from '../../keys/keys.ts';
import { emailKeyOf } from '../users/email.ts';
import { findAccount, findUsers } from '../users/store.ts';
import { discoverabilitySchema, publicKeysSchema } from './schemas.ts';

/** The trace backend as a user registry of the packet service: look-up of contacts, and public keys. */
export function registerDiscoverability(
  app: Server,
  {
    pool,
    keys,
    isServiceToken,
  }: { pool: pg.Pool; keys: Keys; isServiceToken: (given: string) => Promise<boolean> },
): void {
  app.get(
    '/api/discoverability',
    {
      config: { access: 'open' },
      schema: discoverabilitySchema,
    },
    async ({ query, headers }, reply) => {
      const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
      if (!(await isServiceToken(given))) {
        reply.header('www-authenticate', 'Bearer');
        throw new Problem('unauthenticated', 'this needs the service token');
      }
      const holder = await findHolder(pool, query.contact);
      if (!holder) throw new Problem('not_found', 'nobody has this contact');
      return { status: 'OK' as const, data: holder, ...holder };
    },
  );

  app.get(
    '/.well-known/jwks.json',
    {
      config: { access: 'open' },
      schema: publicKeysSchema,
    },
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=60');
      return { keys: (await keys.publicKeys()).keys as object[] };
    },
  );
}

/** The user who has a contact, and whether they are discoverable; undefined if nobody has it. */
export async function findHolder(
  pool: pg.Pool,
  contact: string,
): Promise<{ user_id: string; discoverable: boolean } | undefined> {
  const user = await findAccount(pool, emailKeyOf(contact));
  if (user?.status !== 'ACTIVE') return undefined;
  return { user_id: String(user.id), discoverable: user.discoverable };
}

/** Ids of users, as the packet service knows them. */
const USER_ID = /^[1-9]\d{0,8}$/;

/** The names and surnames of users by their ids; those who are unknown or have none are absent. */
export async function findNames(pool: pg.Pool, ids: readonly string[]): Promise<Map<string, string>> {
  const users = await findUsers(pool, ids.filter(id => USER_ID.test(id)).map(Number));
  const named = users.map(user => [String(user?.id), [user?.name, user?.surname].filter(Boolean).join(' ')]);
  return new Map(named.filter((pair): pair is [string, string] => pair[1] !== ''));
}
