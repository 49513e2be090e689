import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer, textOf } from '../../../../../test/helpers/mail-server.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { enter, share, somebody, storedPacket } from '../../../../../test/helpers/sharing.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../../test/helpers/user-registry.ts';
import {
  type ReceivedHook,
  type WebhookReceiver,
  webhookReceiver,
} from '../../../../../test/helpers/webhook-receiver.ts';
import { newUlid } from '../../../core/packet-format/ulid.ts';

const WEBHOOK_SECRET = 'a secret that both sides know';

let mail: MailServer;
let receiver: WebhookReceiver;
let delivery: Record<string, string>;
let service: RunningService;
beforeAll(async () => {
  mail = await mailServer();
  receiver = await webhookReceiver();
  delivery = {
    SMTP_URL: mail.url,
    PUBLIC_URL: 'https://field.example',
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
    NOTIFICATION_TRIES: '3',
    NOTIFICATION_RETRY_SECONDS: '1',
  };
  service = await runningService(delivery);
});
beforeEach(() => {
  mail.behaviour = 'take';
  receiver.behaviour = 'take';
});
afterAll(async () => {
  await service.stop();
  await receiver.die();
  await mail.stop();
});

/** Shares a new packet with somebody new who can be found. */
async function sharedWith(from = 'ana') {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  const packet = await storedPacket(service);
  const { status, body, text } = await share(service, packet, ben.contact, from);
  expect(status, text).toBe(201);
  return { ...ben, packet, share_id: body.share_id as string };
}

const log = async (user: string, query = '') =>
  (await service.send('GET', `/notifications?user_id=${user}${query}`)).body;

/** The delivery log's one entry about a user, once each channel is as a test expects. */
const settled = (user: string, statuses: Record<string, string>) =>
  eventually(
    async () => (await log(user)).notifications[0],
    ({ deliveries }) =>
      deliveries.every(
        ({ channel, status }: Record<string, string>) => statuses[channel as string] === status,
      ),
  );

test('a share is notified by mail and webhook, and neither contains anything of the packet', async () => {
  const { user, contact, packet, share_id } = await sharedWith();
  const [hook] = await receiver.hooksAbout(packet);
  expect(hook?.body).toEqual({
    notification_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
    type: 'share.created',
    user_id: user,
    packet_id: packet,
    share_id,
    from_user: 'ana',
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const [received] = await mail.mailsTo(contact);
  const text = textOf(received);
  expect(text).toContain(`https://field.example/packets/${packet}`);
  expect(text).toContain(`https://field.example/shares/inbox?user_id=${user}`);
  expect(text + hook?.text).not.toMatch(/leaf rust/i);

  expect(await settled(user, { mail: 'delivered', webhook: 'delivered' })).toEqual({
    ...hook?.body,
    deliveries: ['mail', 'webhook'].map(channel => ({
      channel,
      status: 'delivered',
      attempts: 1,
      last_attempt_at: expect.any(String),
      delivered_at: expect.any(String),
    })),
  });
});

/** The receiver's check in docs/decisions/notifications.md. */
function isGenuine({ headers, text }: ReceivedHook, secret: string, now: number): boolean {
  const fields = Object.fromEntries(
    String(headers['fieldtrace-signature'])
      .split(',')
      .map(field => field.split('=') as [string, string]),
  );
  const expected = createHmac('sha256', secret).update(`${fields.t}.${text}`).digest();
  const signature = Buffer.from(fields.v1 ?? '', 'hex');
  return (
    signature.length === 32 && timingSafeEqual(signature, expected) && Math.abs(now - Number(fields.t)) <= 300
  );
}

test('a receiver can check that a notification is ours, unchanged and fresh', async () => {
  const { packet } = await sharedWith();
  const [hook] = (await receiver.hooksAbout(packet)) as [ReceivedHook];
  const now = Date.now() / 1000;
  expect(isGenuine(hook, WEBHOOK_SECRET, now)).toBe(true);
  expect(isGenuine(hook, 'another secret of some length', now)).toBe(false);
  expect(isGenuine({ ...hook, text: hook.text.replace('ana', 'eve') }, WEBHOOK_SECRET, now)).toBe(false);
  expect(isGenuine(hook, WEBHOOK_SECRET, now + 301)).toBe(false);
  expect(hook.headers['content-type']).toBe('application/json');
});

test('an invitation is notified too, with its recipient if known', async () => {
  const [ben, nobody] = [somebody(), somebody()];
  await enter(service, ben.user, [ben.contact], false);
  for (const [contact, user_id] of [
    [ben.contact, ben.user],
    [nobody.contact, null],
  ] as const) {
    const packet = await storedPacket(service);
    const { invitation_id } = (await share(service, packet, contact)).body;
    const [hook] = await receiver.hooksAbout(packet);
    expect(hook?.body).toEqual({
      notification_id: expect.any(String),
      type: 'invitation.sent',
      user_id,
      packet_id: packet,
      invitation_id,
      from_user: 'ana',
      created_at: expect.any(String),
    });
    await mail.mailsTo(contact);
  }
});

test('users who can be found by phone number get an email at their address; others are left to the webhook', async () => {
  const [ben, phone, stranger] = [somebody(), '+254733000001', '+254733000002'];
  await enter(service, ben.user, [phone, ben.contact]);
  const packet = await storedPacket(service);
  await share(service, packet, '+254 733 000 001');
  expect(textOf((await mail.mailsTo(ben.contact))[0])).toContain(packet);

  const other = await storedPacket(service);
  await share(service, other, stranger);
  const [hook] = await receiver.hooksAbout(other);
  expect(hook?.body).toMatchObject({ type: 'invitation.sent', contact_value: stranger });
  const token = /^https:\/\/field\.example\/invitations\/([\w-]{43})$/.exec(hook?.body.invitation_url)?.[1];
  const eve = somebody();
  const accepted = await service.send('POST', `/invitations/${token}/accept`, { user_id: eve.user });
  expect(accepted.body).toMatchObject({ contact_value: stranger, shares: 1 });
});

test('whatever the name of a sender, mails keep their headers, their lines and their markup', async () => {
  const names = [
    'ana\r\nBcc: victim@example.org',
    'ana\r\n\r\n<h1>Your account</h1>',
    '"><script>alert(1)</script><a href="https://evil.example',
    `ana\u2028\u202e${'x'.repeat(200)}`,
    'ana\n--_NmP-boundary',
    '=?utf-8?q?ana?=',
    'www.evil.example/login',
    'https://evil.example:8443/x',
    'hxxp:\\\\evil\u3002example',
    'support@evil.example',
  ];
  for (const name of names) {
    const { contact, packet } = await sharedWith(name);
    const [received] = await mail.mailsTo(contact);
    const raw = received?.raw as string;
    const head = raw.slice(0, raw.indexOf('\n\n'));
    expect(received?.to).toEqual([contact]);
    expect(head).not.toMatch(/^(bcc|cc):/im);
    expect(head).toMatch(/^Subject: An observation was shared with you$/m);
    expect(textOf(received)).toMatch(/^".*" shared an observation from the field with you:$/m);
    expect(textOf(received)).not.toMatch(/\u202e|x{100}/);
    expect(textOf(received).replaceAll('https://field.example', '')).not.toMatch(
      /evil[.\u3002]|:\/\/|:\\|@evil/,
    );
    expect(raw.slice(raw.indexOf('text/html'))).not.toMatch(/<(script|h1|a href="https:\/\/evil)/);
    expect(raw).toContain(packet);
    expect((await receiver.hooksAbout(packet))[0]?.body.from_user).toBe(name);
  }
  expect(mail.mails.some(({ to }) => to.includes('victim@example.org'))).toBe(false);
});

test('a receiver that fails, redirects or is gone is retried until it accepts the notification', async () => {
  for (const trouble of ['fail', 'redirect', 'gone'] as const) {
    if (trouble === 'gone') await receiver.die();
    else receiver.behaviour = trouble;
    const { user, packet } = await sharedWith();
    const failed = await eventually(
      async () => (await log(user)).notifications[0].deliveries[1],
      ({ attempts }) => attempts > 0,
    );
    expect([failed.status, failed.last_error]).toEqual([
      'queued',
      {
        fail: 'the receiver returned 503',
        redirect: 'the receiver returned 307',
        gone: 'the receiver could not be reached (ECONNREFUSED)',
      }[trouble],
    ]);
    if (trouble === 'gone') await receiver.revive();
    else receiver.behaviour = 'take';
    const { deliveries, notification_id } = await settled(user, { mail: 'delivered', webhook: 'delivered' });
    expect(deliveries[1].attempts).toBeGreaterThan(1);
    expect(deliveries[1].last_error).toBeUndefined();
    const hooks = await receiver.hooksAbout(packet);
    expect(new Set(hooks.map(({ body }) => body.notification_id))).toEqual(new Set([notification_id]));
  }
});

test('a receiver whose response never ends has accepted the notification', async () => {
  receiver.behaviour = 'endless';
  const { user } = await sharedWith();
  await settled(user, { mail: 'delivered', webhook: 'delivered' });
});

test('a stalled receiver delays neither intake, shares nor emails, and times out', async () => {
  receiver.behaviour = 'stall';
  const before = receiver.hooks.length;
  const stalled = await Promise.all(Array.from({ length: 10 }, () => sharedWith()));
  await eventually(() => receiver.hooks.length >= before + 10);
  for (let n = 0; n < 50; n++) await storedPacket(service);
  for (const { contact, user } of stalled) {
    await mail.mailsTo(contact);
    expect((await log(user)).notifications[0].deliveries[1]).toMatchObject({ status: 'queued', attempts: 0 });
  }
  const logs = () =>
    Promise.all(stalled.map(async ({ user }) => (await log(user)).notifications[0].deliveries[1]));
  const failed = await eventually(logs, all => all.some(({ attempts }) => attempts > 0));
  receiver.behaviour = 'take';
  expect(failed.find(({ attempts }) => attempts > 0).last_error).toBe('the receiver did not respond in time');
  await eventually(logs, all => all.every(({ status }) => status === 'delivered'));
});

test('an email that the server refuses permanently is dropped at once, one that it defers is retried', async () => {
  mail.behaviour = 'refuse';
  const refused = await sharedWith();
  const { deliveries } = await settled(refused.user, { mail: 'dead', webhook: 'delivered' });
  expect(deliveries[0]).toMatchObject({
    attempts: 1,
    last_error: 'the mail server refused the mail (550): no such mailbox <…>',
  });
  mail.behaviour = 'busy';
  const put = await sharedWith();
  await eventually(
    async () => (await log(put.user)).notifications[0].deliveries[0],
    ({ attempts }) => attempts > 0,
  );
  mail.behaviour = 'take';
  await settled(put.user, { mail: 'delivered', webhook: 'delivered' });
});

test('a waiting email is not sent once its share or invitation has been answered', async () => {
  mail.behaviour = 'busy';
  const verdicts = { accept: await sharedWith(), reject: await sharedWith() };
  const invited = somebody();
  await enter(service, invited.user, [invited.contact], false);
  const packet = await storedPacket(service);
  expect((await share(service, packet, invited.contact)).body.status).toBe('invitation_sent');
  for (const { user } of [...Object.values(verdicts), invited]) {
    await eventually(
      async () => (await log(user)).notifications[0].deliveries[0],
      ({ attempts }) => attempts > 0,
    );
  }
  for (const [verdict, { user, share_id }] of Object.entries(verdicts)) {
    const { status } = await service.send('POST', `/shares/${share_id}/${verdict}`, { user_id: user });
    expect(status).toBe(200);
  }
  await enter(service, invited.user, [invited.contact]);
  mail.behaviour = 'take';
  for (const { user, contact } of Object.values(verdicts)) {
    const { deliveries } = await settled(user, { mail: 'obsolete', webhook: 'delivered' });
    expect(deliveries[0].last_error).toBeUndefined();
    expect(mail.mails.filter(({ to }) => to.includes(contact))).toEqual([]);
  }
  // The invitation became a share, and only that is mailed.
  const [received] = await mail.mailsTo(invited.contact);
  expect(textOf(received)).toContain('shared an observation');
  const { notifications } = await eventually(
    () => log(invited.user),
    found => found.notifications[1].deliveries[0].status !== 'queued',
  );
  expect(notifications[1].deliveries[0].status).toBe('obsolete');
  expect(mail.mails.filter(({ to }) => to.includes(invited.contact))).toHaveLength(1);
});

test('the log gives each notification once, newest first, page by page, and to nobody else', async () => {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  const packet = await storedPacket(service);
  for (let n = 0; n < 7; n++) await share(service, packet, ben.contact, `sender ${n}`);
  const read: string[] = [];
  for (let cursor = ''; ; ) {
    const body = await log(ben.user, `&limit=3&cursor=${cursor}`);
    read.push(...body.notifications.map(({ from_user }: { from_user: string }) => from_user));
    if (body.next_cursor === undefined) break;
    cursor = body.next_cursor;
  }
  expect(read).toEqual([6, 5, 4, 3, 2, 1, 0].map(n => `sender ${n}`));
  for (const query of ['', `user_id=${ben.user}&limit=0`, `user_id=${ben.user}&cursor=nonsense`]) {
    expect((await service.send('GET', `/notifications?${query}`)).status, query).toBe(400);
  }
  const tokens = { AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET };
  const closed = await runningService({ ...delivery, ...tokens }, service);
  const as = async (user: string) => bearer(await secretToken(user));
  expect((await closed.send('GET', `/notifications?user_id=${ben.user}`)).status).toBe(401);
  const peek = await closed.send('GET', `/notifications?user_id=${ben.user}`, undefined, await as('eve'));
  expect(peek.status).toBe(403);
  const own = await closed.send('GET', '/notifications', undefined, await as(ben.user));
  expect(own.body.notifications).toHaveLength(7);
  await closed.stop();
});

test('without a mail server each mail is a file; without a webhook nothing is posted', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
  const alone = await runningService({ DATA_DIR: folder });
  const { contact } = somebody();
  const packet = await storedPacket(alone);
  await share(alone, packet, contact);
  const files = await eventually(
    () => readdir(path.join(folder, 'mail')).catch(() => []),
    names => names.length === 1 && !names[0]?.startsWith('.'),
  );
  expect(files[0]).toMatch(/^[0-9A-Z]{26}\.eml$/);
  const raw = await readFile(path.join(folder, 'mail', files[0] as string), 'utf8');
  expect(textOf({ raw })).toMatch(new RegExp(`${alone.url}/invitations/[\\w-]{43}\n`));
  await alone.stop();
  await rm(folder, { recursive: true });
});

test('nobody is notified of a transaction that was rolled back', async () => {
  const [ben, key] = [somebody(), { 'idempotency-key': newUlid() }];
  await enter(service, ben.user, [ben.contact]);
  const packets = await Promise.all(Array.from({ length: 8 }, () => storedPacket(service)));
  // Of simultaneous requests with one key and different bodies one is kept; the others` transactions roll back.
  const answers = await Promise.all(packets.map(packet => share(service, packet, ben.contact, 'ana', key)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  const kept = packets[answers.findIndex(({ status }) => status === 201)] as string;
  await settled(ben.user, { mail: 'delivered', webhook: 'delivered' });
  expect((await log(ben.user)).notifications).toHaveLength(1);
  // What comes later shows that nothing else was on its way.
  await receiver.hooksAbout((await sharedWith()).packet);
  expect(
    receiver.hooks.filter(({ body }) => body.user_id === ben.user).map(({ body }) => body.packet_id),
  ).toEqual([kept]);
});
