import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer, textOf, tokenIn } from '../../../../../test/helpers/mail-server.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { enter, inbox, prove, share, somebody, storedPacket } from '../../../../../test/helpers/sharing.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../../test/helpers/user-registry.ts';
import { newUlid, ulidToUuid } from '../../../core/packet-format/ulid.ts';

let mail: MailServer;
let service: RunningService;
let neighbour: RunningService;
beforeAll(async () => {
  mail = await mailServer();
  const delivery = { SMTP_URL: mail.url, PUBLIC_URL: 'https://field.example' };
  service = await runningService(delivery);
  neighbour = await runningService(delivery, service);
});
afterAll(async () => {
  await neighbour.stop();
  await service.stop();
  await mail.stop();
});

const accept = (token: string, user: string, through = service, headers: Record<string, string> = {}) =>
  through.send('POST', `/invitations/${token}/accept`, { user_id: user }, headers);

async function invited(contact: string, count = 1) {
  const packets = await Promise.all(Array.from({ length: count }, () => storedPacket(service)));
  for (const packet of packets) {
    expect((await share(service, packet, contact)).body.status).toBe('invitation_sent');
  }
  const mails = await mail.mailsTo(contact, count);
  return { packets, tokens: mails.map(tokenIn) };
}

test("an invitation email has a link without the packet's content; accepting gives the contact to the user", async () => {
  const ben = somebody();
  const { packets, tokens } = await invited(ben.contact);
  const [received] = await mail.mailsTo(ben.contact);
  expect(textOf(received)).toContain(`https://field.example/invitations/${tokens[0]}`);
  expect(textOf(received)).not.toMatch(/leaf rust/i);
  expect(await inbox(service, ben.user)).toEqual([]);

  const accepted = await accept(tokens[0] as string, ben.user);
  expect([accepted.status, accepted.body]).toEqual([
    200,
    { user_id: ben.user, contact_value: ben.contact, shares: 1, message: '1 packet was shared with you' },
  ]);
  expect(await inbox(service, ben.user)).toMatchObject([{ packet_id: packets[0], status: 'pending' }]);
  expect((await service.send('GET', `/directory/users/${ben.user}`)).body).toEqual({
    user_id: ben.user,
    contacts: [ben.contact],
    discoverable: true,
    unconfirmed: [],
  });
  expect((await share(service, await storedPacket(service), ben.contact)).body.status).toBe('created');
});

test('accepting one invitation turns every pending one to the contact into a share, each with its notification', async () => {
  const ben = somebody();
  const { packets, tokens } = await invited(ben.contact, 3);
  expect(new Set(tokens).size).toBe(3);
  expect((await accept(tokens[1] as string, ben.user)).body.shares).toBe(3);
  expect((await inbox(service, ben.user)).map(({ packet_id }) => packet_id).sort()).toEqual(packets.sort());
  const notifications = (await service.send('GET', `/notifications?user_id=${ben.user}`)).body.notifications;
  expect(
    notifications.map(({ type, packet_id }: Record<string, string>) => [type, packet_id]).sort(),
  ).toEqual(packets.map(packet => ['share.created', packet]));
  // Three invitations, three shares.
  await mail.mailsTo(ben.contact, 6);
  for (const token of tokens) expect((await accept(token, 'mallory')).status).toBe(404);
});

test('used, expired and unknown tokens get the same answer', async () => {
  const [ben, eve] = [somebody(), somebody()];
  const used = (await invited(ben.contact)).tokens[0] as string;
  await accept(used, ben.user);
  const ended = (await invited(eve.contact)).tokens[0] as string;
  await service.pool.query(
    `UPDATE invitation_tokens SET expires_at = expires_at - interval '7 days' WHERE contact = $1`,
    [eve.contact],
  );
  const texts = new Set<string>();
  for (const token of [used, ended, 'A'.repeat(43), 'short', encodeURIComponent("' OR 1=1 --")]) {
    const answer = await accept(token, ben.user);
    expect(answer.status).toBe(404);
    texts.add(answer.text);
  }
  expect(texts.size).toBe(1);
});

test('16 simultaneous accepts of one token, by different users through two processes, have one winner', async () => {
  const ben = somebody();
  const { tokens } = await invited(ben.contact, 2);
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) =>
      accept(tokens[n % 2] as string, `${ben.user}-${n}`, n % 3 ? service : neighbour),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(15).fill(404)]);
  const winner = answers.find(({ status }) => status === 200)?.body.user_id;
  expect(await inbox(service, winner)).toHaveLength(2);
});

test('an accept whose answer was lost is answered again by its Idempotency-Key', async () => {
  const ben = somebody();
  const { tokens } = await invited(ben.contact);
  const key = { 'idempotency-key': newUlid() };
  const first = await accept(tokens[0] as string, ben.user, service, key);
  const again = await accept(tokens[0] as string, ben.user, neighbour, key);
  expect([again.status, again.text]).toEqual([200, first.text]);
});

test('the same invitation is mailed once, and again when its link has ended', async () => {
  const ben = somebody();
  const { packets } = await invited(ben.contact);
  const again = () => share(service, packets[0] as string, ben.contact);
  const { invitation_id } = (await again()).body;
  await service.pool.query(
    `UPDATE shares SET created_at = created_at - interval '7 days' WHERE share_id = $1`,
    [ulidToUuid(invitation_id)],
  );
  expect((await again()).body.invitation_id).toBe(invitation_id);
  expect((await again()).body.invitation_id).toBe(invitation_id);
  const mails = await mail.mailsTo(ben.contact, 2);
  expect((await accept(tokenIn(mails[1]), ben.user)).body.shares).toBe(1);
  await mail.mailsTo(ben.contact, 3);
  expect(mail.mails.filter(({ to }) => to.includes(ben.contact))).toHaveLength(3);
});

test('a stranger gets at most 20 invitations a day; those that were not sent still become shares', async () => {
  const closed = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET, SMTP_URL: mail.url }, service);
  const ben = somebody();
  const packet = await storedPacket(service);
  // Invitations without a token do not delay the others.
  for (let n = 0; n < 12; n++) await share(closed, packet, ben.contact, `sender ${n}`);
  for (let n = 0; n < 25; n++) {
    const body = { packet_id: packet, contact_value: ben.contact };
    const sent = await closed.send('POST', '/shares', body, bearer(await secretToken(`user ${n}`)));
    expect(sent.body.status).toBe('invitation_sent');
  }
  const mails = await mail.mailsTo(ben.contact, 30);
  const headers = bearer(await secretToken(ben.user));
  expect((await accept(tokenIn(mails[0]), ben.user, closed, headers)).body.shares).toBe(37);
  const log = async () =>
    (await closed.send('GET', '/notifications', undefined, headers)).body.notifications as {
      deliveries: { status: string }[];
    }[];
  expect((await log()).filter(({ deliveries }) => deliveries[0]?.status === 'queued')).toHaveLength(25);
  expect(mail.mails.filter(({ to }) => to.includes(ben.contact))).toHaveLength(30);
  // A day later, invitations to another contact show how many are mailed in a day.
  const eve = somebody();
  await service.pool.query(
    `INSERT INTO shares (share_id, packet_id, from_user, contact, status, created_at, author)
     SELECT gen_random_uuid(), gen_random_uuid(), 'ana', $1, 'invited', now() - interval '2 hours', 'ana'
     FROM generate_series(1, 19)`,
    [eve.contact],
  );
  for (const n of [1, 2]) {
    const body = { packet_id: await storedPacket(service), contact_value: eve.contact };
    await closed.send('POST', '/shares', body, bearer(await secretToken(`user ${n}`)));
  }
  await mail.mailsTo(eve.contact);
  const { rows } = await service.pool.query(
    `SELECT count(*)::int AS mails FROM notification_deliveries WHERE address = $1`,
    [eve.contact],
  );
  expect(rows).toEqual([{ mails: 1 }]);
  await closed.stop();
});

test('secrets are in the database only as hashes', async () => {
  const ben = somebody();
  const { tokens } = await invited(ben.contact);
  const { rows } = await service.pool.query(
    `SELECT (SELECT count(*) FROM packet_service_jobs.job WHERE data::text LIKE $1)::int AS jobs,
      (SELECT count(*) FROM invitation_tokens WHERE token_hash = sha256($2))::int AS hashes`,
    [`%${tokens[0]}%`, Buffer.from(tokens[0] as string)],
  );
  expect(rows[0]).toEqual({ jobs: 0, hashes: 1 });
});

test("the live feed's log has the shares, and invitations to users who are known", async () => {
  const [ben, eve, nobody] = [somebody(), somebody(), somebody()];
  const packet = await storedPacket(service);
  await enter(service, ben.user, [ben.contact]);
  await enter(service, eve.user, [eve.contact], false);
  const shared = (await share(service, packet, ben.contact)).body;
  const invited = (await share(service, packet, eve.contact)).body;
  await share(service, packet, nobody.contact);
  const { rows } = await eventually(
    () =>
      service.pool.query(
        `SELECT kind::text, user_id, details FROM packet_log
         WHERE packet_id = $1 AND kind IN ('share.created', 'invitation.sent') ORDER BY position`,
        [ulidToUuid(packet)],
      ),
    result => result.rowCount === 2,
  );
  const about = { from_user: 'ana', created_at: expect.any(String), notification_id: expect.any(String) };
  expect(rows).toEqual([
    { kind: 'share.created', user_id: ben.user, details: { share_id: shared.share_id, ...about } },
    {
      kind: 'invitation.sent',
      user_id: eve.user,
      details: { invitation_id: invited.invitation_id, ...about },
    },
  ]);
});

test('with tokens everyone accepts for themselves', async () => {
  const closed = await runningService(
    {
      SMTP_URL: mail.url,
      PUBLIC_URL: 'https://field.example',
      AUTH_MODE: 'required',
      USER_REGISTRY_JWT_SECRET: JWT_SECRET,
    },
    service,
  );
  const ben = somebody();
  const { tokens } = await invited(ben.contact);
  const at = `/invitations/${tokens[0]}/accept`;
  const as = bearer(await secretToken(ben.user));
  expect((await closed.send('POST', at, {})).status).toBe(401);
  expect((await closed.send('POST', at, { user_id: 'eve' }, as)).status).toBe(403);
  expect((await closed.send('POST', at, {}, as)).body).toMatchObject({ user_id: ben.user, shares: 1 });
  await closed.stop();
});

test('an invitation to an address of the caller is accepted or declined on its own, and nobody is mailed about it', async () => {
  const settings = { USER_REGISTRY_JWT_SECRET: JWT_SECRET, SMTP_URL: mail.url };
  const closed = await runningService(settings, service);
  const [ben, eve] = [somebody(), somebody()];
  const [headers, others] = [bearer(await secretToken(ben.user)), bearer(await secretToken(eve.user))];
  await prove(closed, ben.user, ben.contact, headers, false);
  await prove(closed, eve.user, eve.contact, others, false);
  await invited(ben.contact, 3);
  const listed = async () => {
    const query = `contact_value=${ben.contact}&details=true`;
    return (await closed.send('GET', `/invitations?${query}`, undefined, headers)).body.invitations;
  };
  const waiting = await listed();
  expect(waiting[0].packet).toMatchObject({ type: 'note', text: 'Secret leaf rust' });
  const [first, second, third] = waiting.map(
    (invitation: { invitation_id: string }) => invitation.invitation_id,
  );
  const answer = (id: string, verb: string, of = headers) =>
    closed.send('POST', `/shares/${id}/${verb}`, {}, of);
  // To anybody else it is as unknown as before.
  const unknown = await answer(newUlid(), 'accept', others);
  for (const verb of ['accept', 'reject']) {
    const { status, body } = await answer(first, verb, others);
    expect([status, body.error]).toEqual([404, unknown.body.error.replace(/[0-9A-Z]{26}/, first)]);
    const open = await closed.send('POST', `/shares/${first}/${verb}`, { user_id: ben.user });
    expect(open.status).toBe(403);
  }
  expect((await answer(first, 'accept')).body).toMatchObject({ share_id: first, status: 'accepted' });
  expect((await answer(first, 'accept')).status).toBe(200);
  expect((await answer(second, 'reject')).body).toMatchObject({ share_id: second, status: 'rejected' });
  expect((await answer(second, 'accept')).status).toBe(409);
  expect((await listed()).map((invitation: { invitation_id: string }) => invitation.invitation_id)).toEqual([
    third,
  ]);
  const shares = await inbox(closed, ben.user, '', headers);
  expect(shares.map(({ share_id, status }) => [share_id, status]).sort()).toEqual(
    [
      [first, 'accepted'],
      [second, 'rejected'],
    ].sort(),
  );
  const { notifications } = await eventually(
    async () => (await closed.send('GET', '/notifications', undefined, headers)).body,
    found => found.notifications[0].deliveries[0].status !== 'queued',
  );
  expect(notifications[0]).toMatchObject({ type: 'share.created', share_id: first });
  expect(notifications[0].deliveries[0].status).toBe('obsolete');
  await closed.stop();
});

test('a link can be checked without using it', async () => {
  const ben = somebody();
  const { tokens } = await invited(ben.contact);
  const token = tokens[0] as string;
  const expiryOf = (which: string) => service.send('GET', `/invitations/${which}/expiry`);
  for (let n = 0; n < 2; n++) {
    const { status, body } = await expiryOf(token);
    expect([status, Date.parse(body.expires_at) > Date.now()]).toEqual([200, true]);
  }
  expect((await accept(token, ben.user)).status).toBe(200);
  const [used, unknown] = [await expiryOf(token), await expiryOf('x'.repeat(43))];
  expect([used.status, used.text]).toEqual([404, unknown.text]);
});

test('a user whose address is confirmed sees the invitations to it, and accepts them without a mail', async () => {
  const closed = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET }, service);
  const [ben, eve] = [somebody(), somebody()];
  const headers = bearer(await secretToken(ben.user));
  const own = { contact_value: ben.contact };
  const listed = (of = headers, contact = ben.contact) =>
    closed.send('GET', `/invitations?contact_value=${contact}`, undefined, of);
  await prove(closed, ben.user, ben.contact, headers, false);
  await prove(closed, eve.user, eve.contact, bearer(await secretToken(eve.user)));
  // Nobody may ask about a contact that is not theirs, whether it is known or not.
  for (const contact of [eve.contact, somebody().contact]) {
    const { status, body } = await listed(headers, contact);
    expect([status, body.error]).toEqual([403, 'contact_value must be a confirmed contact of the user']);
  }
  const { packets } = await invited(ben.contact, 2);
  const { body } = await listed();
  expect(body.invitations).toMatchObject([{ from_user: 'ana' }, { from_user: 'ana' }]);
  expect(JSON.stringify(body)).not.toContain(packets[0]);
  expect((await listed({})).status).toBe(401);
  expect((await listed(bearer(await secretToken(eve.user)))).status).toBe(403);

  const first = await closed.send('POST', '/invitations/accept', own, { ...headers, 'idempotency-key': 'k' });
  expect(first.body).toMatchObject({ user_id: ben.user, contact_value: ben.contact, shares: 2 });
  const again = await closed.send('POST', '/invitations/accept', own, { ...headers, 'idempotency-key': 'k' });
  expect(again.body).toEqual(first.body);
  expect((await listed()).body.invitations).toEqual([]);
  const shares = await inbox(closed, ben.user, '', headers);
  expect(shares.map(({ share_id }) => share_id).sort()).toEqual(
    body.invitations.map((invitation: { invitation_id: string }) => invitation.invitation_id).sort(),
  );
  // Accepting does not make them discoverable.
  expect((await share(service, await storedPacket(service), ben.contact)).body.status).toBe(
    'invitation_sent',
  );
  await closed.stop();
});
