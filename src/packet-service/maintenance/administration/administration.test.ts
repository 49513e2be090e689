import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { mailServer } from '../../../../test/helpers/mail-server.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { enter, share, somebody, storedPacket } from '../../../../test/helpers/sharing.ts';
import { bearer, type TraceKeys, traceKeys } from '../../../../test/helpers/user-registry.ts';
import { type WebhookReceiver, webhookReceiver } from '../../../../test/helpers/webhook-receiver.ts';
import { makeMailer } from '../../../platform/mail/mail.ts';
import { watchedMailer } from '../../../platform/mail/watched-mailer.ts';
import { newUlid } from '../../core/packet-format/ulid.ts';

let registry: TraceKeys;
let receiver: WebhookReceiver;
let service: RunningService;
let root: Record<string, string>;
beforeAll(async () => {
  registry = await traceKeys();
  receiver = await webhookReceiver();
  service = await runningService({
    ...registry.settings,
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: 'a secret that both sides know',
    NOTIFICATION_TRIES: '1',
    NOTIFICATION_RETRY_SECONDS: '1',
  });
  root = bearer(await registry.token('root', { role: 'SYSTEM_ADMIN' }));
});
afterAll(async () => {
  await service.stop();
  await receiver.die();
  await registry.stop();
});

const get = (path: string) => service.send('GET', path, undefined, root);
const replay = (body: object) => service.send('POST', '/administration/dead-letters/replay', body, root);

async function deadLetters(query = ''): Promise<{ notification_id: string; channel: string }[]> {
  return (await get(`/administration/dead-letters${query}`)).body.dead_letters;
}

test('dead letters are listed page by page without contents, and delivered when they are replayed', async () => {
  receiver.behaviour = 'fail';
  const contacts: string[] = [];
  const packets: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { user, contact } = somebody();
    await enter(service, user, [contact]);
    contacts.push(contact);
    packets.push(await storedPacket(service));
    expect((await share(service, packets[n] as string, contact)).status).toBe(201);
  }
  const letters = await eventually(
    () => deadLetters(),
    found => found.length === 3,
  );
  expect(letters[0]).toMatchObject({
    channel: 'webhook',
    type: 'share.created',
    from_user: 'ana',
    attempts: 1,
    last_error: 'the receiver returned 503',
    recipient: contacts[2],
    packet_id: packets[2],
  });
  expect(JSON.stringify(letters)).not.toContain('Secret leaf rust');
  expect((await get('/administration/jobs')).body).toMatchObject({
    dead_letters: 3,
    queues: expect.arrayContaining([
      { queue: 'webhook', waiting: expect.any(Number), active: expect.any(Number) },
    ]),
  });

  const first = (await get('/administration/dead-letters?limit=2')).body;
  expect(first.dead_letters).toHaveLength(2);
  const rest = (await get(`/administration/dead-letters?limit=2&cursor=${first.next_cursor}`)).body;
  expect([rest.dead_letters.length, rest.next_cursor]).toEqual([1, undefined]);
  const ids = [...first.dead_letters, ...rest.dead_letters].map(letter => letter.notification_id);
  expect(ids).toEqual(letters.map(letter => letter.notification_id));

  receiver.behaviour = 'take';
  expect((await replay({ notification_id: ids[1] })).body).toEqual({ replayed: 1 });
  expect((await deadLetters()).map(letter => letter.notification_id)).toEqual([ids[0], ids[2]]);
  const followed = async () => {
    const { dead_letters } = (await get(`/administration/dead-letters?ids=${ids[1]},${ids[2]}`)).body;
    return dead_letters.map(({ status }: { status: string }) => status);
  };
  await eventually(followed, statuses => statuses[0] === 'delivered');
  expect(await followed()).toContain('dead');
  expect((await replay({})).body).toEqual({ replayed: 2 });
  await eventually(async () => {
    const { rows } = await service.pool.query(
      "SELECT FROM notification_deliveries WHERE status <> 'delivered' AND channel = 'webhook'",
    );
    return rows.length === 0;
  });
  expect(await deadLetters()).toEqual([]);
  expect((await replay({})).body).toEqual({ replayed: 0 });
});

test('a replayed delivery that fails again is reported, can be dismissed once, and its log shows both', async () => {
  receiver.behaviour = 'fail';
  const { user, contact } = somebody();
  await enter(service, user, [contact]);
  await share(service, await storedPacket(service), contact);
  const [letter] = await eventually(
    () => deadLetters(),
    found => found.length === 1,
  );
  expect(letter).not.toHaveProperty('replayed_at');
  const id = letter?.notification_id as string;
  await replay({ notification_id: id });
  const [again] = await eventually(
    () => deadLetters(),
    found => found.length === 1,
  );
  expect(again).toMatchObject({
    notification_id: id,
    replayed_at: expect.any(String),
    attempts: 2,
    status: 'dead',
  });
  const dismiss = (channel: string, of = id) =>
    service.send('DELETE', `/administration/dead-letters/${of}/${channel}`, undefined, root);
  expect((await dismiss('mail')).status).toBe(404);
  expect((await dismiss('pigeon')).status).toBe(400);
  expect((await dismiss('webhook', newUlid())).status).toBe(404);
  expect((await dismiss('webhook')).body).toEqual({ dismissed: 1 });
  expect((await dismiss('webhook')).status).toBe(404);
  expect(await deadLetters()).toEqual([]);
  expect((await get('/administration/jobs')).body.dead_letters).toBe(0);
  expect((await replay({})).body).toEqual({ replayed: 0 });
  const notifications = await service.send(
    'GET',
    '/notifications',
    undefined,
    bearer(await registry.token(user)),
  );
  expect(notifications.body.notifications[0].deliveries).toContainEqual(
    expect.objectContaining({
      channel: 'webhook',
      status: 'dismissed',
      last_error: 'the receiver returned 503',
    }),
  );
  const { rows } = await service.pool.query('SELECT command, details FROM audit ORDER BY id DESC LIMIT 1');
  const details = { by: 'user root', id, channel: 'webhook', count: 1 };
  expect(rows).toEqual([{ command: 'notifications dismiss', details }]);
});

test('the jobs say when a mail was last sent; one that is only kept as a file was not sent', async () => {
  const mails = async () => (await get('/administration/jobs')).body.mails;
  const logger = pino({ level: 'silent' });
  const server = await mailServer();
  const { folder, remove } = await temporaryFolder();
  const settings = { MAIL_FROM: 'Field <no-reply@field.example>', DATA_DIR: folder };
  const mail = { id: newUlid(), to: 'ben@example.org', subject: 'S', text: 'T', html: '<p>T</p>' };
  for (const SMTP_URL of [undefined, server.url]) {
    const mailer = watchedMailer(makeMailer({ ...settings, SMTP_URL }), service.pool, logger);
    await mailer.send(mail, AbortSignal.timeout(10_000));
    mailer.close();
    const sent_at = SMTP_URL && expect.stringMatching(/^20.*Z$/);
    expect(await mails()).toEqual({ given_up: 0, ...(sent_at && { sent_at }) });
  }
  expect(await readdir(path.join(folder, 'mail'))).toEqual([`${mail.id}.eml`]);
  await server.stop();
  await remove();
});

test('an invalid cursor or id is refused by name', async () => {
  const listed = await get('/administration/dead-letters?cursor=nonsense');
  expect([listed.status, listed.body.error]).toEqual([400, expect.stringMatching(/^cursor /)]);
  const named = await get(`/administration/dead-letters?ids=${'U'.repeat(26)}`);
  expect([named.status, named.body.error]).toEqual([400, expect.stringMatching(/^ids /)]);
  const replayed = await replay({ notification_id: 'nonsense' });
  expect([replayed.status, replayed.body.error]).toEqual([400, expect.stringMatching(/^notification_id /)]);
});

test('metrics are numbers by name, without the buckets of histograms', async () => {
  const { metrics } = (await get('/administration/metrics')).body;
  const byName = new Map<string, { value: number; name: string }[]>(
    metrics.map(({ name, values }: { name: string; values: [] }) => [name, values]),
  );
  expect(byName.get('process_resident_memory_bytes')?.[0]?.value).toBeGreaterThan(1e6);
  const names = new Set(byName.get('http_request_duration_seconds')?.map(({ name }) => name));
  expect([...names].sort()).toEqual([
    'http_request_duration_seconds_count',
    'http_request_duration_seconds_sum',
  ]);
});
