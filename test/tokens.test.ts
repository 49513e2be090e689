import fc from 'fast-check';
import { exportJWK, type JSONWebKeySet, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { keySetTokenCheck, rememberingCheck } from '../src/platform/tokens/tokens.ts';
import { eventually } from './helpers/eventually.ts';
import { runs } from './helpers/property.ts';
import { type RunningService, runningService } from './helpers/service.ts';
import { bearer, claims, JWT_SECRET, keyServer, secretToken } from './helpers/user-registry.ts';

let required: RunningService;
let optional: RunningService;
beforeAll(async () => {
  required = await runningService({ AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET });
  optional = await runningService({ AUTH_MODE: 'optional', USER_REGISTRY_JWT_SECRET: JWT_SECRET }, required);
});
afterAll(async () => {
  await optional.stop();
  await required.stop();
});

const status = async (service: RunningService, token?: string) => {
  const answer = await service.send('GET', '/packets', undefined, token === undefined ? {} : bearer(token));
  if (answer.status === 401) expect(Object.keys(answer.body)).toEqual(['error']);
  return answer.status;
};

test('required: every endpoint but health and the documentation needs a token', async () => {
  expect(await status(required)).toBe(401);
  expect(await status(required, await secretToken('ana'))).toBe(200);
  for (const path of ['/health', '/health/ready', '/health/live', '/docs', '/openapi.json']) {
    expect((await required.send('GET', path)).status, path).toBe(200);
  }
  expect((await required.send('GET', '/nothing')).status).toBe(404);
});

test('open endpoints ignore Authorization', async () => {
  for (const service of [required, optional]) {
    for (const path of ['/health', '/health/ready', '/health/live', '/docs', '/invitations/x', '/graph']) {
      for (const authorization of ['Basic YW5hOmJlbg==', 'Bearer nonsense', 'nonsense']) {
        const answer = await service.send('GET', path, undefined, { authorization });
        expect(answer.status, `${path} ${authorization}`).toBe(200);
      }
    }
  }
});

test('optional: no token is fine, a present one must be valid', async () => {
  expect(await status(optional)).toBe(200);
  expect(await status(optional, await secretToken('ana'))).toBe(200);
  expect(await status(optional, await secretToken('ana', {}, 'another secret, another registry'))).toBe(401);
  expect(await status(optional, 'nonsense')).toBe(401);
});

test('optional without any key: a present token cannot be checked and is refused', async () => {
  const keyless = await runningService({}, required);
  expect(await status(keyless)).toBe(200);
  expect(await status(keyless, await secretToken('ana'))).toBe(401);
  await keyless.stop();
});

test('off: tokens are ignored', async () => {
  const off = await runningService({ AUTH_MODE: 'off', USER_REGISTRY_JWT_SECRET: JWT_SECRET }, required);
  expect(await status(off, 'nonsense')).toBe(200);
  await off.stop();
});

test('expired, early, refresh, not activated and nameless tokens are refused', async () => {
  const now = Math.floor(Date.now() / 1000);
  const refused: JWTPayload[] = [
    { exp: now - 60 },
    { nbf: now + 60 },
    { exp: undefined },
    { type: 'refresh' },
    { is_activated: false },
    ...[7, {}, ['ana'], true, null].map(sub => ({ sub }) as unknown as JWTPayload),
    { sub: undefined },
    { sub: '' },
    { sub: 'x'.repeat(257) },
  ];
  for (const change of refused) {
    expect(await status(required, await secretToken('ana', change)), JSON.stringify(change)).toBe(401);
  }
});

test('ID, logout and refresh tokens are refused, however they are marked', async () => {
  const refused: JWTPayload[] = [
    ...['ID', 'id', 'Logout', 'Refresh', 'Offline'].flatMap(kind => [
      { type: undefined, typ: kind },
      { type: kind },
    ]),
    { type: undefined, typ: ['Refresh'] },
    { type: undefined, at_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' },
    { type: undefined, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
  ];
  for (const change of refused) {
    expect(await status(required, await secretToken('ana', change)), JSON.stringify(change)).toBe(401);
  }
  const typed = (typ: string) =>
    new SignJWT(claims('ana'))
      .setProtectedHeader({ alg: 'HS256', typ })
      .sign(new TextEncoder().encode(JWT_SECRET));
  expect(await status(required, await typed('logout+jwt'))).toBe(401);
  expect(await status(required, await typed('at+jwt'))).toBe(200);
  expect(await status(required, await secretToken('ana', { typ: 'Bearer' }))).toBe(200);
});

test('issuer and audience are checked if they are set, with a secret and with published keys', async () => {
  const keys = await keyServer();
  const byKey = await keys.rotate();
  const expected = { USER_REGISTRY_ISSUER: 'https://id.example', USER_REGISTRY_AUDIENCE: 'field,map' };
  const settings = { AUTH_MODE: 'required', ...expected };
  const services = [
    await runningService({ ...settings, USER_REGISTRY_JWT_SECRET: JWT_SECRET }, required),
    await runningService({ ...settings, USER_REGISTRY_JWKS_URL: keys.url }, required),
  ];
  const signers = [secretToken, byKey];
  for (const [n, service] of services.entries()) {
    const sign = signers[n] as typeof byKey;
    const [iss, aud] = ['https://id.example', ['other', 'map']];
    expect(await status(service, await sign('ana', { iss, aud }))).toBe(200);
    expect(await status(service, await sign('ana', { iss, aud: 'field' }))).toBe(200);
    for (const wrong of [{}, { iss }, { aud }, { iss, aud: 'fiel' }, { iss: 'https://evil.example', aud }]) {
      expect(await status(service, await sign('ana', wrong)), JSON.stringify(wrong)).toBe(401);
    }
    await service.stop();
  }
  await keys.stop();
  await expect(runningService(expected, required)).rejects.toThrow('USER_REGISTRY_ISSUER');
});

test('a token that the registry renewed lacks is_activated, domain and uuid, and is accepted', async () => {
  const renewed = { is_activated: undefined, domain: undefined, uuid: undefined, type: undefined };
  expect(await status(required, await secretToken('ana', renewed))).toBe(200);
});

test('only HS256 counts with a shared secret, whatever the token claims', async () => {
  for (const alg of ['HS384', 'HS512']) {
    expect(await status(required, await secretToken('ana', {}, JWT_SECRET, alg))).toBe(401);
  }
  expect(await status(required, new UnsecuredJWT(claims('ana')).encode())).toBe(401);
});

test('any change to a token makes it invalid', async () => {
  const token = await secretToken('ana');
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: token.length - 2 }), fc.constantFrom(...'AZaz09-_.'), async (at, char) => {
      const changed = token.slice(0, at) + char + token.slice(at + 1);
      // The last character of a base64url part may carry unused bits, so only a change of value counts.
      fc.pre(
        changed !== token &&
          changed
            .split('.')
            .map(part => Buffer.from(part, 'base64url').toString('hex'))
            .join() !==
            token
              .split('.')
              .map(part => Buffer.from(part, 'base64url').toString('hex'))
              .join(),
      );
      expect(await status(required, changed)).toBe(401);
    }),
    { numRuns: runs(60) },
  );
});

test('the header is Bearer and a token, and nothing else', async () => {
  const token = await secretToken('ana');
  for (const header of [
    token,
    `Basic ${token}`,
    'Bearer',
    `Bearer ${token} x`,
    `Bearer ${'x'.repeat(9000)}`,
  ]) {
    const answer = await required.send('GET', '/packets', undefined, { authorization: header });
    expect(answer.status, header.slice(0, 20)).toBe(401);
  }
  expect(
    (await required.send('GET', '/packets', undefined, { authorization: `bearer ${token}` })).status,
  ).toBe(200);
});

test('published keys: several kinds are accepted, rotated keys are found, an unknown key is refused', async () => {
  const keys = await keyServer();
  const first = await keys.rotate('RS256');
  const service = await runningService({ AUTH_MODE: 'required', USER_REGISTRY_JWKS_URL: keys.url }, required);
  const token = await first('ana');
  expect(await status(service, token)).toBe(200);
  expect(await status(service, await first('ben'))).toBe(200);
  expect(keys.requests).toBe(1);

  // Right after a question a made-up key leads to no further one; a moment later the rotated key is found.
  const second = await keys.rotate('ES256');
  const rotated = await second('ana');
  expect(await status(service, rotated)).toBe(401);
  expect(keys.requests).toBe(1);
  expect(
    await eventually(
      () => status(service, rotated),
      code => code !== 401,
    ),
  ).toBe(200);
  expect(await status(service, token)).toBe(401);
  expect(await status(service, await secretToken('ana'))).toBe(401);
  await Promise.all([service.stop(), keys.stop()]);
});

test('a public key is never accepted as a shared secret', async () => {
  const keys = await keyServer();
  await keys.rotate('RS256');
  const service = await runningService({ AUTH_MODE: 'required', USER_REGISTRY_JWKS_URL: keys.url }, required);
  const published = await (await fetch(keys.url)).json();
  const [key] = (published as { keys: Record<string, string>[] }).keys;
  for (const secret of [JSON.stringify(key), key?.n as string]) {
    const forged = await new SignJWT(claims('ana'))
      .setProtectedHeader({ alg: 'HS256', kid: key?.kid as string })
      .sign(new TextEncoder().encode(secret));
    expect(await status(service, forged)).toBe(401);
  }
  expect(await exportJWK(new TextEncoder().encode('x'))).toHaveProperty('kty', 'oct');
  await Promise.all([service.stop(), keys.stop()]);
});

test('known keys stay valid while the key server is gone; before the first key, requests are 503', async () => {
  const keys = await keyServer();
  const sign = await keys.rotate();
  const known = await runningService({ AUTH_MODE: 'required', USER_REGISTRY_JWKS_URL: keys.url }, required);
  expect(await status(known, await sign('ana'))).toBe(200);
  for (const behaviour of ['fail', 'nonsense'] as const) {
    keys.behaviour = behaviour;
    expect(await status(known, await sign('ana'))).toBe(200);
    const fresh = await runningService({ AUTH_MODE: 'required', USER_REGISTRY_JWKS_URL: keys.url }, required);
    const answer = await fresh.send('GET', '/packets', undefined, bearer(await sign('ana')));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    keys.behaviour = 'answer';
    expect(await status(fresh, await sign('ana'))).toBe(200);
    await fresh.stop();
  }
  await Promise.all([known.stop(), keys.stop()]);
});

test('a cached token ends with its key', async () => {
  const keys = await keyServer();
  const sign = await keys.rotate('EdDSA');
  const fetchKeys = async () => (await fetch(keys.url)).json() as Promise<JSONWebKeySet>;
  const check = rememberingCheck(keySetTokenCheck(fetchKeys));
  const token = await sign('ana', { exp: Math.floor(Date.now() / 1000) + 365 * 24 * 3600 });
  expect((await check(token)).sub).toBe('ana');
  await keys.rotate('EdDSA');
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const refusal = await eventually(() => {
      vi.setSystemTime(Date.now() + 5 * 60_000);
      return check(token).then(
        () => undefined,
        (error: Error) => error.message,
      );
    });
    expect(refusal).toBe('the token is not valid');
  } finally {
    vi.useRealTimers();
  }
  await keys.stop();
});
