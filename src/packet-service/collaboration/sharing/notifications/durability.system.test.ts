import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../../test/helpers/database.ts';
import { eventually } from '../../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer } from '../../../../../test/helpers/mail-server.ts';
import { type RunningProcess, startProcess } from '../../../../../test/helpers/process.ts';
import { enter, share, somebody, storedPacket } from '../../../../../test/helpers/sharing.ts';
import { type WebhookReceiver, webhookReceiver } from '../../../../../test/helpers/webhook-receiver.ts';
import { newUlid } from '../../../core/packet-format/ulid.ts';

const run = promisify(execFile);
const CLI = path.resolve(import.meta.dirname, '../../../../../dist/cli.js');

let database: TestDatabase;
let mail: MailServer;
let receiver: WebhookReceiver;
let settings: Record<string, string>;
beforeAll(async () => {
  database = await testDatabase();
  mail = await mailServer();
  receiver = await webhookReceiver();
  const { host, port, user, password, database: name } = database.connection;
  settings = {
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    SERVICES: 'packet',
    SMTP_URL: mail.url,
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: 'a secret that both sides know',
    NOTIFICATION_TRIES: '3',
    NOTIFICATION_RETRY_SECONDS: '1',
    LOG_LEVEL: 'warn',
  };
});
beforeEach(() => {
  mail.behaviour = 'take';
  receiver.behaviour = 'take';
});
afterAll(async () => {
  await receiver.die();
  await mail.stop();
  await database.drop();
});

const start = (changes: Record<string, string> = {}) => startProcess({ ...settings, ...changes });

async function stop(service: RunningProcess): Promise<void> {
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
}

async function sharedThrough(service: RunningProcess) {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  const packet = await storedPacket(service);
  expect((await share(service, packet, ben.contact)).status).toBe(201);
  return { ...ben, packet };
}

/** The state of a user's only notification, by channel. */
async function deliveries(service: RunningProcess, user: string): Promise<Record<string, string>> {
  const { body } = await service.send('GET', `/notifications?user_id=${user}`);
  return Object.fromEntries(
    body.notifications[0].deliveries.map((delivery: Record<string, string>) => [
      delivery.channel,
      delivery.status,
    ]),
  );
}

const arrived = (service: RunningProcess, user: string) =>
  eventually(
    () => deliveries(service, user),
    ({ mail, webhook }) => mail === 'delivered' && webhook === 'delivered',
  );

function fieldtrace(...words: string[]) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...settings } as NodeJS.ProcessEnv;
  return run(process.execPath, [CLI, ...words], { env });
}

const replay = async (...options: string[]) =>
  (await fieldtrace('notifications', 'replay', ...options)).stdout.trim();

test('everything is delivered after the next start if the process is killed after the commit, before or during deliveries', async () => {
  // Some wait for their next try, some are under way, some were never begun.
  receiver.behaviour = 'fail';
  mail.behaviour = 'busy';
  const first = await start();
  const waiting = await sharedThrough(first);
  await receiver.hooksAbout(waiting.packet);
  receiver.behaviour = 'stall';
  mail.behaviour = 'stall';
  const underWay = await Promise.all(Array.from({ length: 15 }, () => sharedThrough(first)));
  await eventually(() =>
    underWay.some(({ packet }) => receiver.hooks.some(({ body }) => body.packet_id === packet)),
  );
  first.child.kill('SIGKILL');
  await first.ended;

  receiver.behaviour = 'take';
  mail.behaviour = 'take';
  const second = await start();
  for (const { user, packet, contact } of [waiting, ...underWay]) {
    await arrived(second, user);
    await mail.mailsTo(contact);
    const ids = (await receiver.hooksAbout(packet)).map(({ body }) => body.notification_id);
    expect(new Set(ids).size).toBe(1);
  }
  await stop(second);
}, 240_000);

test('SIGTERM ends in time although a receiver stalls, and the next start delivers', async () => {
  receiver.behaviour = 'stall';
  const first = await start();
  const { user, packet } = await sharedThrough(first);
  await receiver.hooksAbout(packet);
  await stop(first);
  receiver.behaviour = 'take';
  const second = await start();
  await arrived(second, user);
  await stop(second);
});

test('a notification becomes a logged dead letter after its last try, and is delivered when the command replays it', async () => {
  const service = await start();
  receiver.behaviour = 'fail';
  const [first, second] = await Promise.all([sharedThrough(service), sharedThrough(service)]);
  for (const { user } of [first, second]) {
    await eventually(
      () => deliveries(service, user),
      ({ webhook }) => webhook === 'dead',
    );
    const { body } = await service.send('GET', `/notifications?user_id=${user}`);
    expect(body.notifications[0].deliveries[1]).toMatchObject({
      attempts: 3,
      last_error: 'the receiver returned 503',
    });
  }
  expect(service.output()).toContain('fieldtrace notifications replay');
  expect(service.output()).not.toContain(settings.WEBHOOK_SECRET);

  receiver.behaviour = 'take';
  const { body } = await service.send('GET', `/notifications?user_id=${first.user}`);
  const id = body.notifications[0].notification_id;
  expect(await replay('--id', id)).toBe('1 delivery will be retried');
  await arrived(service, first.user);
  expect((await deliveries(service, second.user)).webhook).toBe('dead');
  expect(await replay()).toBe('1 delivery will be retried');
  await arrived(service, second.user);
  expect(await replay()).toBe('0 deliveries will be retried');
  expect(await replay('--id', newUlid())).toBe('0 deliveries will be retried');
  expect(
    (await receiver.hooksAbout(first.packet)).map(({ body: { notification_id } }) => notification_id),
  ).toEqual(Array(4).fill(id));
  await stop(service);
});

test('a dead letter can be replayed while no service runs; the next start delivers it', async () => {
  mail.behaviour = 'refuse';
  const first = await start();
  const { user, contact } = await sharedThrough(first);
  await eventually(
    () => deliveries(first, user),
    ({ mail: status }) => status === 'dead',
  );
  await stop(first);
  mail.behaviour = 'take';
  expect(await replay()).toBe('1 delivery will be retried');
  const second = await start();
  await mail.mailsTo(contact);
  await arrived(second, user);
  await stop(second);
});

test('a webhook without a secret, and an unknown command or option, are refused with a sentence', async () => {
  const { WEBHOOK_SECRET: _, ...unsigned } = settings;
  const refused = await startProcess({ ...unsigned }).catch(error => error);
  expect(refused.message).toMatch(/cannot start: WEBHOOK_URL is set, so WEBHOOK_SECRET must be set/);
  for (const [words, message] of [
    [['notifications', 'reply'], 'unknown command notifications reply'],
    [['notifications', 'replay', '--all'], 'notifications replay has no option --all'],
    [['notifications', 'replay', '--id', '7'], '--id must be a notification_id; 7 is not one'],
  ] as const) {
    const failed = await fieldtrace(...words).catch(error => error);
    expect([failed.code, failed.stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  expect((await run(process.execPath, [CLI, '--help'])).stdout).toContain('notifications replay');
});
