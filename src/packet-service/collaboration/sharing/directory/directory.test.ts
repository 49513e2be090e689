import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MailServer, mailServer, textOf, tokenIn } from '../../../../../test/helpers/mail-server.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { enter, inbox, prove, share, somebody, storedPacket } from '../../../../../test/helpers/sharing.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../../test/helpers/user-registry.ts';

let folder: string;
let mail: MailServer;
let open: RunningService;
let closed: RunningService;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
  mail = await mailServer();
  // Both deliver what either is asked for, so both send by the one server.
  const delivery = { SMTP_URL: mail.url, PUBLIC_URL: 'https://field.example/api/', DATA_DIR: folder };
  open = await runningService(delivery);
  const tokens = { AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET };
  closed = await runningService({ ...delivery, ...tokens }, open);
});
afterAll(async () => {
  await closed.stop();
  await open.stop();
  await mail.stop();
  await rm(folder, { recursive: true, force: true });
});

const as = async (user: string) => bearer(await secretToken(user));

test('an entry is returned as it is looked up, replaced as a whole, and can be removed', async () => {
  const { user, contact } = somebody();
  const at = `/directory/users/${user}`;
  expect((await open.send('GET', at)).status).toBe(404);
  const put = await open.send('PUT', at, {
    contacts: [contact.toUpperCase(), '+254 700 111 222', contact],
    discoverable: true,
  });
  const entry = { user_id: user, contacts: ['+254700111222', contact], discoverable: true, unconfirmed: [] };
  expect([put.status, put.body]).toEqual([200, entry]);
  expect((await open.send('GET', at)).body).toEqual(entry);

  await open.send('PUT', at, { contacts: ['other name'], discoverable: false });
  expect((await open.send('GET', at)).body).toEqual({
    user_id: user,
    contacts: ['other name'],
    discoverable: false,
    unconfirmed: [],
  });
  expect((await open.send('DELETE', at)).status).toBe(204);
  expect((await open.send('DELETE', at)).status).toBe(204);
  expect((await open.send('GET', at)).status).toBe(404);
});

test('an invalid entry is refused by field', async () => {
  const at = `/directory/users/${somebody().user}`;
  const wrong: [unknown, string][] = [
    [{ discoverable: true }, 'contacts'],
    [{ contacts: [] }, 'discoverable'],
    [{ contacts: 'ben', discoverable: true }, 'contacts'],
    [{ contacts: ['ok', ''], discoverable: true }, 'contacts.1'],
    [{ contacts: ['ok', 'a\nb'], discoverable: true }, 'contacts.1'],
    [{ contacts: Array.from({ length: 21 }, (_, n) => `n${n}`), discoverable: true }, 'contacts'],
    [{ contacts: [], discoverable: 'yes' }, 'discoverable'],
  ];
  for (const [body, field] of wrong) {
    const answer = await open.send('PUT', at, body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(`^${field} `)]);
  }
});

test("with a token only one's own entry is written, read and removed", async () => {
  const [ben, eve] = [somebody(), somebody()];
  await enter(open, ben.user, [ben.contact]);
  const at = `/directory/users/${ben.user}`;
  const body = { contacts: [], discoverable: false };
  for (const [method, sent] of [['PUT', body], ['GET'], ['DELETE']] as const) {
    expect((await closed.send(method, at, sent, await as(eve.user))).status, method).toBe(403);
    expect((await closed.send(method, at, sent)).status, method).toBe(401);
  }
  expect((await closed.send('GET', at, undefined, await as(ben.user))).body.contacts).toEqual([ben.contact]);
});

test('with a token an address counts when the link mailed to it has confirmed it, and not before', async () => {
  const [packet, ben, eve] = [await storedPacket(open), somebody(), somebody()];
  const body = { contacts: [ben.contact, '+254 711 222 333'], discoverable: true };
  const put = await closed.send('PUT', `/directory/users/${ben.user}`, body, await as(ben.user));
  expect(put.body.unconfirmed.sort()).toEqual(['+254711222333', ben.contact]);
  const invited = await share(open, packet, ben.contact);
  expect(invited.body.status).toBe('invitation_sent');

  const [confirmation] = await mail.mailsTo(ben.contact);
  expect(textOf(confirmation)).toContain(
    `https://field.example/api/directory/confirmations/${tokenIn(confirmation)}`,
  );
  const confirm = async (user?: string, token = tokenIn(confirmation)) =>
    closed.send('POST', `/directory/confirmations/${token}`, {}, user ? await as(user) : {});
  expect((await confirm()).status).toBe(401);
  const unknown = await confirm(ben.user, 'A'.repeat(43));
  const others = await confirm(eve.user);
  expect([others.status, others.text]).toEqual([404, unknown.text]);
  const at = `/directory/confirmations/${tokenIn(confirmation)}`;
  expect((await closed.send('POST', at, { user_id: ben.user }, await as(eve.user))).status).toBe(403);
  expect((await share(open, packet, ben.contact)).body.status).toBe('invitation_sent');

  const confirmed = await confirm(ben.user);
  expect([confirmed.status, confirmed.body.unconfirmed]).toEqual([200, ['+254711222333']]);
  expect(await inbox(closed, ben.user, '', await as(ben.user))).toMatchObject([
    { share_id: invited.body.invitation_id },
  ]);
  expect((await share(open, packet, ben.contact)).body.status).toBe('created');
  const used = await confirm(ben.user);
  expect([used.status, used.text]).toEqual([404, unknown.text]);

  // A confirmed contact stays confirmed in later entries, without another mail.
  const again = await closed.send('PUT', `/directory/users/${ben.user}`, body, await as(ben.user));
  expect(again.body.unconfirmed).toEqual(['+254711222333']);
});

test('an address belongs to the user who confirmed it last; a claim takes nothing from anybody', async () => {
  const [packet, ben, eve] = [await storedPacket(open), somebody(), somebody()];
  await enter(open, ben.user, [ben.contact]);
  const body = { contacts: [ben.contact], discoverable: true };
  const claim = await closed.send('PUT', `/directory/users/${eve.user}`, body, await as(eve.user));
  expect(claim.body.unconfirmed).toEqual([ben.contact]);
  // Before the mail about the share, which goes to the same address.
  const [confirmation] = await mail.mailsTo(ben.contact);
  await share(open, packet, ben.contact, 'first');
  expect(await inbox(open, ben.user)).toHaveLength(1);

  const token = tokenIn(confirmation);
  await closed.send('POST', `/directory/confirmations/${token}`, {}, await as(eve.user));
  await share(open, packet, ben.contact, 'second');
  expect(await inbox(open, ben.user)).toHaveLength(1);
  expect(await inbox(closed, eve.user, '', await as(eve.user))).toHaveLength(1);
  // A user who has only claimed it does not see that it is taken.
  expect((await open.send('GET', `/directory/users/${ben.user}`)).body.unconfirmed).toEqual([]);

  const zoe = somebody();
  await prove(closed, zoe.user, ben.contact, await as(zoe.user));
  await share(open, packet, ben.contact, 'third');
  expect(await inbox(closed, zoe.user, '', await as(zoe.user))).toHaveLength(1);
  const lost = await closed.send('GET', `/directory/users/${eve.user}`, undefined, await as(eve.user));
  expect(lost.body.contacts).toEqual([]);
});

test('a link confirms nothing after its user has withdrawn the contact, or after 7 days', async () => {
  const [ben, eve] = [somebody(), somebody()];
  for (const [{ user, contact }, spoil] of [
    [
      ben,
      async () => {
        const body = { contacts: [], discoverable: true };
        await closed.send('PUT', `/directory/users/${ben.user}`, body, await as(ben.user));
      },
    ],
    [
      eve,
      () =>
        open.pool.query(
          `UPDATE directory_confirmations SET expires_at = expires_at - interval '7 days'
          WHERE user_id = $1`,
          [eve.user],
        ),
    ],
  ] as const) {
    const body = { contacts: [contact], discoverable: true };
    await closed.send('PUT', `/directory/users/${user}`, body, await as(user));
    const [confirmation] = await mail.mailsTo(contact);
    await spoil();
    const at = `/directory/confirmations/${tokenIn(confirmation)}`;
    expect((await closed.send('POST', at, {}, await as(user))).status).toBe(404);
  }
});

test('nobody can flood strangers with emails: one an hour to an address, 20 addresses an hour per user', async () => {
  const { user, contact } = somebody();
  const put = async (contacts: string[]) =>
    closed.send('PUT', `/directory/users/${user}`, { contacts, discoverable: true }, await as(user));
  for (let n = 0; n < 5; n++) expect((await put(n % 2 ? [] : [contact])).status).toBe(200);
  expect((await put(Array.from({ length: 19 }, () => somebody().contact))).status).toBe(200);
  const marker = somebody().contact;
  const refused = await put([marker]);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  await put([contact]);
  // A later mail shows that the earlier ones have all been sent.
  const other = somebody();
  const body = { contacts: [other.contact], discoverable: true };
  await closed.send('PUT', `/directory/users/${other.user}`, body, await as(other.user));
  await mail.mailsTo(other.contact);
  expect(mail.mails.filter(({ to }) => to.includes(contact))).toHaveLength(1);
  expect(mail.mails.filter(({ to }) => to.includes(marker))).toHaveLength(0);
});

test('secrets are in the database only as hashes', async () => {
  const { user, contact } = somebody();
  const body = { contacts: [contact], discoverable: true };
  await closed.send('PUT', `/directory/users/${user}`, body, await as(user));
  const [confirmation] = await mail.mailsTo(contact);
  const token = tokenIn(confirmation);
  const { rows } = await open.pool.query(
    `SELECT (SELECT count(*) FROM packet_service_jobs.job WHERE data::text LIKE $1)::int AS jobs,
      (SELECT count(*) FROM directory_confirmations WHERE token_hash = sha256($2))::int AS hashes`,
    [`%${token}%`, Buffer.from(token)],
  );
  expect(rows[0]).toEqual({ jobs: 0, hashes: 1 });
});

test('the page behind a mailed link is open to everyone, the same for every token, and changes nothing', async () => {
  for (const kind of ['directory/confirmations', 'invitations']) {
    const answer = await closed.send('GET', `/${kind}/${'A'.repeat(43)}`);
    const other = await closed.send('GET', `/${kind}/<script>`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(other.text).toBe(answer.text);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  }
});
