import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { Settings } from '../../../platform/settings/settings.ts';

let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace({
    SMTP_URL: 'smtp://user:hunter2@127.0.0.1:1',
    SERVICE_TOKEN: 'a-service-token-of-many-letters',
    FX_ACCESS_KEY: 'hunter2',
    PASSWORD_POLICY: 'basic',
  });
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

const get = (name: string) => admin.send('GET', `/api/administration/${name}`);

test('every setting is listed with its value or default, and secrets are masked', async () => {
  const { text, body } = await get('settings');
  expect(text).not.toMatch(/hunter2|a-service-token/);
  const byName = new Map<string, { value: string; changed: boolean; description: string }>(
    body.data.settings.map(({ name, ...rest }: { name: string }) => [name, rest]),
  );
  expect(byName.get('PASSWORD_POLICY')).toMatchObject({ value: 'basic', changed: true });
  expect(byName.get('AUTH_MODE')).toMatchObject({ value: 'optional', changed: false });
  expect(byName.get('FX_ACCESS_KEY')?.value).toBe('***');
  expect(byName.get('SMTP_URL')?.value).toBe('smtp://user:***@127.0.0.1:1');
  expect(byName.get('AUTH_MODE')?.description).toContain('tokens');
  expect([...byName.keys()]).toEqual(Object.keys(Settings.properties));
  expect(byName.get('BACKUP_URL')).toEqual({
    changed: false,
    group: 'backups',
    description: expect.stringContaining('where backups are written'),
  });
  expect(byName.get('BACKUP_KEEP_DAYS')).toMatchObject({ value: '14', default: '14', changed: false });
});

test('the jobs have the reason of the last failed mail', async () => {
  await admin.send('POST', '/api/user/request_reset_password', { email: admin.email });
  const mails = async () => (await get('jobs')).body.data.mails;
  await eventually(mails, ({ failedAt }) => failedAt !== undefined);
  expect(await mails()).toEqual({
    failedAt: expect.stringMatching(/^20.*Z$/),
    lastError: 'the mail server could not be reached (ESOCKET)',
  });
});

test('jobs, metrics and backups are reported, also without backups', async () => {
  expect((await get('jobs')).body.data.queues).toContainEqual({
    queue: 'mail',
    waiting: expect.any(Number),
    active: expect.any(Number),
  });
  const names = (await get('metrics')).body.data.metrics.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['http_request_duration_seconds', 'database_connections']));
  expect((await get('backups')).body.data).toEqual({ configured: false });
});
