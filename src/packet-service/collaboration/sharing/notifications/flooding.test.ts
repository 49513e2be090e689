import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../test/helpers/eventually.ts';
import { temporaryFolder } from '../../../../../test/helpers/folder.ts';
import { type MailServer, mailServer, textOf } from '../../../../../test/helpers/mail-server.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { enter, inbox, prove, share, somebody, storedPacket } from '../../../../../test/helpers/sharing.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../../test/helpers/user-registry.ts';
import { countJobs } from '../../../../platform/jobs/store.ts';
import { readSettings } from '../../../../platform/settings/settings.ts';
import { firstUuidAt } from '../../../core/packet-format/ulid.ts';
import { packetPersonalData } from '../../../maintenance/personal-data/personal-data.ts';
import { JOBS_SCHEMA } from './channels.ts';
import { eraseNotifications } from './personal-store.ts';
import { replayNotifications } from './replay.ts';

let mail: MailServer;
let service: RunningService;
let packet: string;
beforeAll(async () => {
  mail = await mailServer();
  service = await runningService({
    SMTP_URL: mail.url,
    PUBLIC_URL: 'https://field.example',
    USER_REGISTRY_JWT_SECRET: JWT_SECRET,
    NOTIFICATION_TRIES: '1',
  });
  packet = await storedPacket(service);
});
afterAll(async () => {
  await service.stop();
  await mail.stop();
});

const as = async (user: string) => bearer(await secretToken(user));

async function shareAs(user: string, contact: string, id = packet) {
  return service.send('POST', '/shares', { packet_id: id, contact_value: contact }, await as(user));
}

/** Somebody who can be found by what is shared with a token. */
async function found() {
  const ben = somebody();
  await prove(service, ben.user, ben.contact, await as(ben.user));
  // The mail that asks for the confirmation.
  await mail.mailsTo(ben.contact);
  return ben;
}

const subjectsTo = (contact: string) =>
  mail.mails
    .filter(({ to }) => to.includes(contact))
    .map(({ raw }) => /^Subject: (.*)$/m.exec(raw)?.[1])
    .filter(subject => subject !== 'Confirm your address');

/** Sends what waits for a later time now. */
const hurry = () =>
  service.pool.query(
    "UPDATE packet_service_jobs.job SET start_after = now() WHERE state = 'created' AND start_after > now()",
  );

/** The statuses of the deliveries of a user's notifications, with how many there are of each. */
async function deliveries(user: string): Promise<Record<string, number>> {
  const { body } = await service.send('GET', '/notifications?limit=100', undefined, await as(user));
  const counts: Record<string, number> = {};
  for (const { deliveries } of body.notifications) {
    const status = deliveries[0]?.status ?? 'none';
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

const SHARED = 'An observation was shared with you';
const DIGEST = 'More observations were shared with you';

test('a recipient gets 20 emails an hour, and one more that summarises the rest', async () => {
  const ben = await found();
  for (let n = 0; n < 26; n++) {
    expect((await shareAs(`sender ${n}`, ben.contact)).body.status).toBe('created');
  }
  await eventually(
    () => deliveries(ben.user),
    counts => counts.delivered === 20,
  );
  expect(await deliveries(ben.user)).toEqual({ delivered: 20, queued: 6 });
  // The alert on deliveries that wait must not fire because of a digest that is not due.
  const queues = await countJobs(service.pool, JOBS_SCHEMA);
  expect(queues.find(({ queue }) => queue === 'mail')?.waiting).toBe(0);
  expect(subjectsTo(ben.contact)).toEqual(Array(20).fill(SHARED));
  // What is answered meanwhile needs no mail.
  const headers = await as(ben.user);
  const [newest] = await inbox(service, ben.user, '', headers);
  await service.send('POST', `/shares/${newest?.share_id}/accept`, {}, headers);
  await hurry();
  await eventually(
    () => deliveries(ben.user),
    counts => counts.queued === undefined,
  );
  expect(await deliveries(ben.user)).toEqual({ delivered: 25, obsolete: 1 });
  const mails = await mail.mailsTo(ben.contact, 22);
  expect(subjectsTo(ben.contact).at(-1)).toBe(DIGEST);
  expect(textOf(mails.at(-1))).toContain('5 more observations from the field were shared with you.');
  expect(textOf(mails.at(-1))).toContain(`https://field.example/shares/inbox?user_id=${ben.user}`);
  expect(await inbox(service, ben.user, '', headers)).toHaveLength(26);
});

test('senders without a token get the usual answer beyond 10 emails an hour, and do not use up the emails of others', async () => {
  const ben = await found();
  for (let n = 0; n < 14; n++) {
    const sent = await share(service, packet, ben.contact, `${ben.user} sender ${n}`);
    expect([sent.status, sent.body]).toEqual([
      201,
      { share_id: expect.any(String), status: 'created', message: expect.any(String) },
    ]);
  }
  await shareAs('ana', ben.contact);
  await eventually(() => subjectsTo(ben.contact).length === 11);
  await hurry();
  // A later mail shows that no other is on its way.
  const last = await found();
  await shareAs('ana', last.contact);
  await mail.mailsTo(last.contact, 2);
  expect(subjectsTo(ben.contact)).toEqual(Array(11).fill(SHARED));
  expect(await deliveries(ben.user)).toEqual({ delivered: 11, none: 4 });
  expect(await inbox(service, ben.user, '', await as(ben.user))).toHaveLength(15);
});

test('the mails that an accepted invitation causes count for the limit', async () => {
  const ben = somebody();
  const packets = await Promise.all(Array.from({ length: 22 }, () => storedPacket(service)));
  for (const [n, id] of packets.entries()) await share(service, id, ben.contact, `${ben.user} sender ${n}`);
  await enter(service, ben.user, [ben.contact]);
  expect(await inbox(service, ben.user)).toHaveLength(22);
  await eventually(() => subjectsTo(ben.contact).length === 10);
  await hurry();
  // A later mail shows that no other is on its way.
  await found();
  expect(subjectsTo(ben.contact)).toHaveLength(10);
});

test('a digest that cannot be delivered is given up as a whole, and sent again as one mail', async () => {
  const ben = await found();
  for (let n = 0; n < 23; n++) await shareAs(`sender ${n}`, ben.contact);
  await eventually(() => subjectsTo(ben.contact).length === 20);
  mail.behaviour = 'refuse';
  await hurry();
  await eventually(
    () => deliveries(ben.user),
    counts => counts.dead === 3,
  );
  mail.behaviour = 'take';
  const { body } = await service.send('GET', '/notifications?limit=1', undefined, await as(ben.user));
  expect(body.notifications[0].deliveries[0].last_error).toMatch(/^the mail server refused the mail/);
  const notices = await replayNotifications(
    { connection: service.connection, pool: service.pool },
    readSettings({ DATA_DIR: '/nowhere' }),
    pino({ level: 'silent' }),
  );
  expect(notices).toBe('3 deliveries will be retried');
  await eventually(
    () => deliveries(ben.user),
    counts => counts.delivered === 23,
  );
  expect(subjectsTo(ben.contact).filter(subject => subject === DIGEST)).toHaveLength(1);
});

test('a digest reaches an address although the user with the first of its shares is erased', async () => {
  const [ben, earlier] = [await found(), somebody()];
  for (let n = 0; n < 23; n++) await shareAs(`sender ${n}`, ben.contact);
  await eventually(() => subjectsTo(ben.contact).length === 20);
  // Of somebody who had the address before.
  await service.pool.query(
    `UPDATE notifications SET user_id = $1, contact = $2 WHERE notification_id = (
       SELECT min(notification_id::text)::uuid FROM notification_deliveries WHERE address = $3 AND in_digest)`,
    [earlier.user, earlier.contact, ben.contact],
  );
  await eraseNotifications(service.pool, earlier.user, [earlier.contact]);
  await hurry();
  await eventually(
    () => deliveries(ben.user),
    counts => counts.delivered === 22,
  );
  expect(subjectsTo(ben.contact).at(-1)).toBe(DIGEST);
});

test('the erasure of a user removes the digest of their address, also from the jobs', async () => {
  const ben = await found();
  for (let n = 0; n < 22; n++) await shareAs(`sender ${n}`, ben.contact);
  const kept = async () => {
    const { rows } = await service.pool.query(
      `SELECT (SELECT count(*)::int FROM notification_deliveries WHERE address = $1 AND in_digest) AS deliveries,
         (SELECT count(*)::int FROM packet_service_jobs.job WHERE data ->> 'address' = $1) AS jobs`,
      [ben.contact],
    );
    return rows[0];
  };
  expect(await kept()).toEqual({ deliveries: 2, jobs: 1 });
  // One is of somebody who had the address before.
  await service.pool.query(
    `UPDATE notifications SET user_id = 'earlier', contact = 'earlier' WHERE notification_id = (
       SELECT min(notification_id::text)::uuid FROM notification_deliveries WHERE address = $1 AND in_digest)`,
    [ben.contact],
  );
  const { folder, remove } = await temporaryFolder();
  const personal = packetPersonalData(readSettings({ DATA_DIR: folder }), service.connection);
  await personal.erase(ben.user, []);
  await personal.close();
  await remove();
  expect(await kept()).toEqual({ deliveries: 0, jobs: 0 });
});

test('a sender with a token shares 200 times an hour; without one the answer stays the same, and no mail is sent', async () => {
  const [ana, zoe, ben, eve] = [somebody().user, somebody().user, await found(), somebody()];
  await enter(service, eve.user, [eve.contact]);
  for (const [user, author] of [
    [ana, ana],
    [zoe, null],
  ]) {
    await service.pool.query(
      `INSERT INTO shares (share_id, packet_id, from_user, contact, status, created_at, author)
       SELECT ($2 || lpad(to_hex(n), 12, '0'))::uuid, gen_random_uuid(), $1, 'contact ' || n, 'invited', now(), $3
       FROM generate_series(1, 199) AS n`,
      [user, firstUuidAt(new Date()).slice(0, -12), author],
    );
  }
  expect((await shareAs(ana, ben.contact)).status).toBe(201);
  const refused = await shareAs(ana, eve.contact);
  expect([refused.status, refused.body.error]).toEqual([
    429,
    'more than 200 shares in an hour; try again later',
  ]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500);
  // What is shared already is answered as before.
  expect((await shareAs(ana, ben.contact)).status).toBe(201);
  expect((await shareAs('another', ben.contact)).status).toBe(201);

  const packets = await Promise.all([1, 2, 3].map(() => storedPacket(service)));
  const answers = await Promise.all(packets.map(id => share(service, id, eve.contact, zoe)));
  expect(answers.map(({ body }) => body.status)).toEqual(Array(3).fill('created'));
  expect(await inbox(service, eve.user)).toHaveLength(3);
  await mail.mailsTo(ben.contact, 3);
  await eventually(() => subjectsTo(eve.contact).length === 1);
  // An hour later; the time of a share is in its id.
  await service.pool.query(
    `UPDATE shares SET share_id = overlay(share_id::text PLACING '0190' FROM 1 FOR 4)::uuid WHERE from_user = $1`,
    [ana],
  );
  expect((await shareAs(ana, eve.contact)).status).toBe(201);
});
