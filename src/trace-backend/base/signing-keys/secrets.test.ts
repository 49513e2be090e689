import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { secretBox } from '../../../platform/tokens/secret-box.ts';

const FIRST = 'a first key of the operator, long'.replaceAll(/[ ,]+/g, '-');
const SECOND = 'a second key of the operator, long'.replaceAll(/[ ,]+/g, '-');

let trace: RunningTrace;
beforeAll(async () => {
  trace = await runningTrace();
});
afterAll(() => trace.stop());

/** The stored secrets, as somebody with a backup can read them. */
async function kept(): Promise<string[]> {
  const { rows } = await trace.pool.query(
    'SELECT private_key AS text FROM signing_keys UNION ALL SELECT value FROM kept_secrets',
  );
  return rows.map(({ text }) => text);
}

const run = promisify(execFile);
/** Runs a fieldtrace command on the database of the test. */
async function fieldtrace(words: string[], environment: Record<string, string> = {}): Promise<string> {
  const { host, port, user, password, database } = trace.connection as Record<string, string>;
  const url = new URL(`postgres://${user}:${password}@localhost:${port}/${database}`);
  if (host?.startsWith('/')) url.searchParams.set('host', host);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: url.href, ...environment } as NodeJS.ProcessEnv;
  return (await run(process.execPath, ['dist/cli.js', ...words], { env })).stdout.trim();
}
const lookUp = (token: string, of = trace) =>
  of.send('GET', `/api/discoverability?contact=${ADMIN.username}`, undefined, {
    authorization: `Bearer ${token}`,
  });
const profile = (user: LoggedIn, of: RunningTrace) =>
  of.send('GET', '/api/user/profile', undefined, { cookie: user.cookie });

test('SECRETS_KEY encrypts existing and new secrets; earlier logins stay valid', async () => {
  const user = await trace.loggedIn();
  const token = await fieldtrace(['service-token']);
  expect((await kept()).filter(text => text.startsWith('{') || text === token)).toHaveLength(2);

  const sealed = await runningTrace({ SECRETS_KEY: FIRST }, trace);
  const texts = await kept();
  expect(texts).toHaveLength(2);
  for (const text of texts) {
    expect(text).toMatch(/^sealed:v1:[0-9a-f]{8}:[\w-]+$/);
    expect(text).not.toContain(token);
  }
  expect((await profile(user, sealed)).status).toBe(200);
  expect((await lookUp(token, sealed)).status).toBe(200);
  const { kid } = JSON.parse(Buffer.from(user.cookie.split(/[=.]/)[1] as string, 'base64url').toString());

  expect(await fieldtrace(['service-token'], { SECRETS_KEY: FIRST })).toBe(token);
  await fieldtrace(['keys', 'rotate'], { SECRETS_KEY: FIRST });
  expect((await kept()).every(text => text.startsWith('sealed:v1:'))).toBe(true);
  const admin = await sealed.login(ADMIN.username, ADMIN.password);
  const { body } = await admin.send('GET', '/api/audit/list?entity=signing_key&sort=ASC');
  expect(body.data.items).toMatchObject([
    { action: 'MAKE_KEY', entityId: kid },
    { action: 'ROTATE_KEYS', address: '' },
  ]);
  await sealed.stop();
});

test('without the key, or with a different one, the service does not start and names the setting', async () => {
  await expect(runningTrace({}, trace)).rejects.toThrow(/^SECRETS_KEY must be set/);
  await expect(runningTrace({ SECRETS_KEY: SECOND }, trace)).rejects.toThrow(/^SECRETS_KEY is not the one/);
  await expect(runningTrace({ SECRETS_KEY: 'short' }, trace)).rejects.toThrow(
    /^SECRETS_KEY must be one to four keys/,
  );
});

test('keys are not rotated without the key or with a different one: the services could not read the new key', async () => {
  const before = await kept();
  for (const [environment, message] of [
    [{}, /SECRETS_KEY must be set/],
    [{ SECRETS_KEY: SECOND }, /SECRETS_KEY is not the one/],
  ] as const) {
    await expect(fieldtrace(['keys', 'rotate'], environment)).rejects.toThrow(message);
    await expect(fieldtrace(['service-token', 'rotate'], environment)).rejects.toThrow(message);
  }
  expect(await kept()).toEqual(before);
});

test('with two keys the first encrypts and both decrypt, so that a key can be replaced', async () => {
  const before = await kept();
  await (await runningTrace({ SECRETS_KEY: `${SECOND},${FIRST}` }, trace)).stop();
  const after = await kept();
  expect(after).toHaveLength(before.length);
  expect(after.filter(text => before.includes(text))).toEqual([]);
  const alone = await runningTrace({ SECRETS_KEY: SECOND }, trace);
  expect((await profile(await alone.loggedIn(), alone)).status).toBe(200);
  await alone.stop();
});

test('a secret does not decrypt in another context or with a changed bit', () => {
  const box = secretBox({ SECRETS_KEY: FIRST });
  const sealed = box.seal('a secret', 'signing_keys 1');
  expect(box.open(sealed, 'signing_keys 1')).toBe('a secret');
  expect(() => box.open(sealed, 'signing_keys 2')).toThrow();
  const last = sealed.at(-1) === 'A' ? 'Q' : 'A';
  expect(() => box.open(sealed.slice(0, -1) + last, 'signing_keys 1')).toThrow();
  expect(box.seal('a secret', 'signing_keys 1')).not.toBe(sealed);
});

test('a rotated service token is valid at once, and the previous one for a day, or not at all on request', async () => {
  const SECRETS_KEY = SECOND;
  const before = await fieldtrace(['service-token'], { SECRETS_KEY });
  const next = await fieldtrace(['service-token', 'rotate'], { SECRETS_KEY });
  expect(next).not.toBe(before);
  const statuses = async (...tokens: string[]) => {
    const service = await runningTrace({ SECRETS_KEY }, trace);
    const answers = await Promise.all(tokens.map(token => lookUp(token, service)));
    await service.stop();
    return answers.map(({ status }) => status);
  };
  expect(await statuses(before, next, 'made-up')).toEqual([200, 200, 401]);
  await trace.pool.query("UPDATE kept_secrets SET made_at = made_at - interval '24 hours'");
  expect(await statuses(before, next)).toEqual([401, 200]);
  const last = await fieldtrace(['service-token', 'rotate', '--now'], { SECRETS_KEY });
  expect(await statuses(next, last)).toEqual([401, 200]);
  const { rows } = await trace.pool.query(
    "SELECT action, details FROM audit WHERE entity = 'secret' ORDER BY id",
  );
  expect(rows.map(({ details }) => details)).toEqual([{ atOnce: false }, { atOnce: true }]);
  expect((await kept()).every(text => text.startsWith('sealed:'))).toBe(true);
});
