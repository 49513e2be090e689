import { argon2, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { openPool } from '../src/platform/database/database.ts';
import { readSettings } from '../src/platform/settings/settings.ts';
import { migrateTraceBackend, SCHEMA } from '../src/trace-backend/app.ts';
import { createAdmin } from '../src/trace-backend/identity/administration/first-admin.ts';
import { COST } from '../src/trace-backend/identity/users/passwords.ts';
import { type Context, latencies, type Row } from './context.ts';

const CLIENTS = 32;
const ADMIN = { username: 'admin@example.org', password: 'an administrator' };

/** The trace backend: the cost of checking the session, and logins compared with the password hash alone. */
export async function traceRows(context: Context): Promise<Row[]> {
  await makeAdmin(context);
  const { port, stop } = await context.startTrace();
  const cookie = await login(port);
  const load = { port, connections: CLIENTS, requests: './requests/trace.ts' };
  await context.load({ ...load, options: { cookie }, seconds: 2 });
  const profile = await context.load({ ...load, options: { cookie } });
  const keys = await context.load({ ...load, options: { path: '/.well-known/jwks.json' } });
  const logins = await context.load({ ...load, connections: 8, options: { login: ADMIN } });
  await stop();
  const hashes = await hashesPerSecond(context.seconds);
  return [
    {
      name: 'GET /api/user/profile with the cookie, 32 clients',
      value: profile.perSecond,
      unit: 'answers/s',
      against: { name: 'an open route', ratio: profile.perSecond / keys.perSecond },
      note: latencies(profile),
    },
    {
      name: 'logins, 8 clients',
      value: logins.perSecond,
      unit: 'logins/s',
      against: { name: 'Argon2id alone', ratio: logins.perSecond / hashes },
      note: latencies(logins),
    },
  ];
}

/** A trace backend's tables, with an administrator in them. */
export async function makeAdmin({ connection }: Context): Promise<void> {
  await migrateTraceBackend(connection);
  const pool = openPool(connection, SCHEMA, 1);
  await createAdmin(pool, readSettings({}), ADMIN.username, ADMIN.password);
  await pool.end();
}

/** The cookie of that administrator. */
export async function login(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/user/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN),
  });
  return answer.headers.getSetCookie()[0]?.split(';')[0] as string;
}

/** Password hashes a second with the service's own cost, on every core and nothing else. */
async function hashesPerSecond(seconds: number): Promise<number> {
  const reckon = promisify(argon2);
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      while (performance.now() < end) {
        await reckon('argon2id', { ...COST, message: Buffer.from(ADMIN.password), nonce: randomBytes(16) });
        count++;
      }
    }),
  );
  return (count * 1000) / (performance.now() - began);
}
