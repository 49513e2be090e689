import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ContactRegistry, contactRegistry } from '../../../../../test/helpers/contact-registry.ts';
import { temporaryFolder } from '../../../../../test/helpers/folder.ts';
import { type Answer, type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import {
  enter,
  inbox,
  invitationTo,
  prove,
  share,
  somebody,
  storedPacket,
} from '../../../../../test/helpers/sharing.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../../test/helpers/user-registry.ts';
import { otherClient } from '../../../../../test/helpers/writes.ts';
import { readSettings } from '../../../../platform/settings/settings.ts';
import { packetPersonalData } from '../../../maintenance/personal-data/personal-data.ts';
import { findLookups } from './personal-store.ts';

// AUTH_MODE=optional: what a contact is good for that somebody has entered without a token.

let registry: ContactRegistry;
let service: RunningService;
/** another process of the same service */
let neighbour: RunningService;
let ana: Record<string, string>;
beforeAll(async () => {
  registry = await contactRegistry();
  const settings = { USER_REGISTRY_URL: registry.url, USER_REGISTRY_JWT_SECRET: JWT_SECRET };
  service = await runningService(settings);
  neighbour = await runningService(settings, service);
  ana = await as('ana');
});
afterEach(() => {
  registry.behaviour = 'answer';
});
afterAll(async () => {
  await neighbour.stop();
  await service.stop();
  await registry.stop();
});

const as = async (user: string) => bearer(await secretToken(user));
/** Shares with Ana's token. */
const shareAs = (packet: string, contact: string, by = service) =>
  by.send('POST', '/shares', { packet_id: packet, contact_value: contact }, ana);
const statusOf = async (sent: Promise<Answer>) => {
  const { status, body, text } = await sent;
  expect(status, text).toBe(201);
  return body.status;
};
const inboxOf = async (user: string) => inbox(service, user, '', await as(user));

test('claiming a contact without a token gives nothing that belongs to its owner', async () => {
  const [bert, claimant] = [somebody(), somebody()];
  const packet = await storedPacket(service);
  const before = (await shareAs(packet, bert.contact)).body;
  expect(before.status).toBe('invitation_sent');
  await enter(service, claimant.user, [bert.contact]);
  registry.holders.set(bert.contact, { user_id: bert.user, discoverable: false });
  const second = await storedPacket(service);
  expect(await statusOf(shareAs(second, bert.contact))).toBe('invitation_sent');
  registry.holders.set(bert.contact, { user_id: bert.user, discoverable: true });
  const third = await storedPacket(service);
  expect(await statusOf(shareAs(third, bert.contact))).toBe('created');
  expect((await inboxOf(bert.user)).map(({ packet_id }) => packet_id)).toEqual([third]);

  const headers = await as(claimant.user);
  expect(await inboxOf(claimant.user)).toEqual([]);
  const own = { contact_value: bert.contact };
  const listed = `/invitations?contact_value=${bert.contact}`;
  expect((await service.send('GET', listed, undefined, headers)).status).toBe(403);
  expect((await service.send('POST', '/invitations/accept', own, headers)).status).toBe(403);
  const answered = await service.send('POST', `/shares/${before.invitation_id}/accept`, {}, headers);
  expect(answered.status).toBe(404);
  const waiting = await service.send('GET', listed, undefined, await as(bert.user));
  expect(waiting.body.invitations).toHaveLength(2);
});

test('every claim without a token gets the same answer, no matter who has the contact', async () => {
  const [registered, proven, claimed, unknown] = [somebody(), somebody(), somebody(), somebody()];
  registry.holders.set(registered.contact, { user_id: registered.user, discoverable: true });
  await prove(service, proven.user, proven.contact, await as(proven.user));
  await enter(service, claimed.user, [claimed.contact]);
  for (const { contact } of [registered, proven, claimed, unknown]) {
    const { user } = somebody();
    const at = `/directory/users/${user}`;
    const put = await service.send('PUT', at, { contacts: [contact], discoverable: true });
    const entry = { user_id: user, contacts: [contact], discoverable: true, unconfirmed: [] };
    expect([put.status, put.body]).toEqual([200, entry]);
    expect((await service.send('GET', at)).body).toEqual(entry);
  }
  const contested = somebody().contact;
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      (n % 2 ? service : neighbour).send('PUT', `/directory/users/${unknown.user}-${n}`, {
        contacts: [contested],
        discoverable: true,
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
});

test('a claim receives shares from senders without a token if nobody is known to have the contact', async () => {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  const packet = await storedPacket(service);
  expect(await statusOf(shareAs(packet, ben.contact))).toBe('invitation_sent');
  expect(await statusOf(share(service, packet, ben.contact, 'zoe'))).toBe('created');
  // The earlier claim counts, unless its user does not want to be found.
  const late = somebody();
  await enter(service, late.user, [ben.contact]);
  expect(await statusOf(share(service, packet, ben.contact, 'max'))).toBe('created');
  expect(await inbox(service, late.user)).toEqual([]);
  await enter(service, ben.user, [ben.contact], false);
  expect(await statusOf(share(service, packet, ben.contact, 'eve'))).toBe('created');
  expect(await inbox(service, late.user)).toHaveLength(1);
  expect(await inbox(service, ben.user)).toHaveLength(2);

  for (const behaviour of ['fail', 'nonsense', 'hang up'] as const) {
    registry.behaviour = behaviour;
    expect(await statusOf(share(service, packet, ben.contact, behaviour)), behaviour).toBe('invitation_sent');
  }
  registry.behaviour = 'answer';
  registry.holders.set(ben.contact, { user_id: 'ben in the registry', discoverable: false });
  expect(await statusOf(share(service, packet, ben.contact, 'lea'))).toBe('invitation_sent');
  registry.holders.set(ben.contact, { user_id: 'ben in the registry', discoverable: true });
  expect(await statusOf(share(service, packet, ben.contact, 'lea'))).toBe('created');
  // With it come the invitations that were sent while the registry did not answer.
  expect(await inbox(service, 'ben in the registry')).toHaveLength(4);
  registry.holders.delete(ben.contact);

  const owner = somebody();
  await prove(service, owner.user, ben.contact, await as(owner.user));
  expect(await statusOf(share(service, packet, ben.contact, 'ida'))).toBe('created');
  expect(await inboxOf(owner.user)).toHaveLength(1);
  expect(await inbox(service, late.user)).toHaveLength(1);
});

test('a claim receives invitations from senders without a token if nobody is known to have the contact', async () => {
  const [ben, bert] = [somebody(), somebody()];
  registry.holders.set(bert.contact, { user_id: bert.user, discoverable: false });
  const packet = await storedPacket(service);
  for (const { contact } of [ben, bert]) {
    expect(await statusOf(share(service, packet, contact, 'zoe'))).toBe('invitation_sent');
    expect(await statusOf(shareAs(packet, contact))).toBe('invitation_sent');
    const claimant = somebody();
    await enter(service, claimant.user, [contact]);
    const got = (await inbox(service, claimant.user)).map(({ from_user }) => from_user);
    expect(got).toEqual(contact === ben.contact ? ['zoe'] : []);
  }
  // Nor does the share of somebody without a token bring along what others have shared with one.
  const cas = somebody();
  expect(await statusOf(shareAs(packet, cas.contact))).toBe('invitation_sent');
  registry.behaviour = 'fail';
  expect(await statusOf(share(service, packet, cas.contact, 'zoe'))).toBe('invitation_sent');
  await enter(service, cas.user, [cas.contact]);
  expect(await inbox(service, cas.user)).toEqual([]);
  registry.behaviour = 'answer';
  expect(await statusOf(share(service, packet, cas.contact, 'zoe'))).toBe('created');
  expect((await inbox(service, cas.user)).map(({ from_user }) => from_user)).toEqual(['zoe']);
  expect(await inboxOf(cas.user)).toHaveLength(1);
});

test("a user's first token cancels contacts that were entered without one", async () => {
  const ben = somebody();
  const packet = await storedPacket(service);
  await enter(service, ben.user, [ben.contact, 'my name']);
  // A code that was mailed proves the contact, and not who has used it.
  const other = somebody();
  const accept = await service.send(
    'POST',
    `/invitations/${await invitationTo(service, other.contact)}/accept`,
    {
      user_id: ben.user,
    },
  );
  expect([accept.status, accept.body.contact_value]).toEqual([200, other.contact]);
  expect(await statusOf(share(service, packet, other.contact, 'zoe'))).toBe('created');
  expect(await statusOf(shareAs(packet, other.contact))).toBe('invitation_sent');

  const at = `/directory/users/${ben.user}`;
  expect((await service.send('GET', at)).body.unconfirmed).toEqual([]);
  const headers = await as(ben.user);
  const entry = (await neighbour.send('GET', at, undefined, headers)).body;
  expect(entry.contacts).toHaveLength(3);
  expect(entry.unconfirmed).toEqual(entry.contacts);
  for (const { contact } of [ben, other]) {
    expect(await statusOf(share(service, packet, contact, 'max'))).toBe('invitation_sent');
  }
  await prove(service, ben.user, ben.contact, headers);
  await service.send('GET', '/packets?limit=1', undefined, headers);
  expect(await statusOf(shareAs(packet, ben.contact))).toBe('created');
});

test('a share in the name of a user before their first token does not replace their own', async () => {
  const [sender, bert, claimant] = [somebody(), somebody(), somebody()];
  const packet = await storedPacket(service);
  await enter(service, claimant.user, [bert.contact]);
  const before = await share(service, packet, bert.contact, sender.user);
  expect(before.body.status).toBe('created');
  const body = { packet_id: packet, contact_value: bert.contact };
  const headers = await as(sender.user);
  const own = await service.send('POST', '/shares', body, headers);
  expect(own.body.status).toBe('invitation_sent');
  const again = await service.send('POST', '/shares', body, headers);
  expect(again.body.invitation_id).toBe(own.body.invitation_id);
});

test('a claim that is being stored when the user sends a first token is refused, or loses its effect', async () => {
  const other = await otherClient(service);
  for (const blocked of ['claim', 'token'] as const) {
    const ben = somebody();
    const claim = () =>
      service.send('PUT', `/directory/users/${ben.user}`, { contacts: [ben.contact], discoverable: true });
    const headers = await as(ben.user);
    const token = () => neighbour.send('GET', '/packets?limit=1', undefined, headers);
    await other.query('BEGIN');
    if (blocked === 'claim') {
      // The claim waits for its contact, while it holds its user: the token waits for it.
      await other.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`contact ${ben.contact}`]);
    } else {
      // The token is being recorded.
      await other.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`user ${ben.user}`]);
    }
    const sent = claim();
    await other.blocks();
    const seen = token();
    await other.blocks(2);
    await other.query('COMMIT');
    const [claimed, seenFirst] = await Promise.all([sent, seen]);
    expect(seenFirst.status).toBe(200);
    expect([200, 403]).toContain(claimed.status);
    const entry = await service.send('GET', `/directory/users/${ben.user}`, undefined, headers);
    if (claimed.status === 200) expect(entry.body.unconfirmed).toEqual([ben.contact]);
    else expect(entry.status).toBe(404);
    expect(await statusOf(share(service, await storedPacket(service), ben.contact, 'zoe'))).toBe(
      'invitation_sent',
    );
  }
  await other.end();
});

test('every contact is looked up in the user registry, whatever the directory knows', async () => {
  const [proven, claimed, unknown] = [somebody(), somebody(), somebody()];
  await prove(service, proven.user, proven.contact, await as(proven.user));
  await enter(service, claimed.user, [claimed.contact]);
  const packet = await storedPacket(service);
  const headers = await as('nosy');
  for (const { contact } of [proven, claimed, unknown]) {
    for (const request of [
      () => share(service, packet, contact, 'zoe'),
      () => shareAs(packet, contact),
      () => service.send('GET', `/invitations?contact_value=${contact}`, undefined, headers),
      () => enter(service, somebody().user, [contact]),
      () => enter(service, somebody().user, [contact], false),
    ]) {
      registry.contacts.length = 0;
      await request();
      expect(registry.contacts).toEqual([contact]);
    }
  }
});

test('a contact that the user registry has for a user needs no mail, and counts no longer than it has', async () => {
  const ben = somebody();
  const headers = await as(ben.user);
  registry.holders.set(ben.contact, { user_id: ben.user, discoverable: true });
  const body = { contacts: [ben.contact, 'another name'], discoverable: true };
  const put = await service.send('PUT', `/directory/users/${ben.user}`, body, headers);
  expect(put.body.unconfirmed).toEqual(['another name']);
  registry.behaviour = 'fail';
  expect(await statusOf(shareAs(await storedPacket(service), ben.contact))).toBe('created');
  registry.behaviour = 'answer';
  registry.holders.delete(ben.contact);
  expect(await statusOf(shareAs(await storedPacket(service), ben.contact))).toBe('invitation_sent');
});

test("the user registry says who has a contact, and that user's confirmed entry says whether they want to be found", async () => {
  const ben = somebody();
  const headers = await as(ben.user);
  await prove(service, ben.user, ben.contact, headers, false);
  const statuses = async () => [
    await statusOf(shareAs(await storedPacket(service), ben.contact)),
    await statusOf(share(service, await storedPacket(service), ben.contact, 'zoe')),
  ];
  registry.holders.set(ben.contact, { user_id: ben.user, discoverable: true });
  expect(await statuses()).toEqual(['invitation_sent', 'invitation_sent']);
  const entry = { contacts: [ben.contact], discoverable: true };
  await service.send('PUT', `/directory/users/${ben.user}`, entry, headers);
  expect(await inboxOf(ben.user)).toHaveLength(2);
  registry.holders.set(ben.contact, { user_id: ben.user, discoverable: false });
  expect(await statuses()).toEqual(['created', 'created']);
  const heir = somebody();
  registry.holders.set(ben.contact, { user_id: heir.user, discoverable: true });
  expect(await statuses()).toEqual(['created', 'created']);
  expect(await inboxOf(heir.user)).toHaveLength(2);
  registry.behaviour = 'fail';
  expect(await statuses()).toEqual(['created', 'created']);
  expect(await inboxOf(ben.user)).toHaveLength(6);
});

test('erasing a user removes nothing that waits for a contact they only claim', async () => {
  const [bert, claimant] = [somebody(), somebody()];
  const packet = await storedPacket(service);
  expect(await statusOf(share(service, packet, bert.contact, 'zoe'))).toBe('invitation_sent');
  await enter(service, claimant.user, [bert.contact], false);
  const { folder, remove } = await temporaryFolder();
  const personal = packetPersonalData(readSettings({ DATA_DIR: folder }), service.connection);
  await personal.erase(claimant.user, []);
  await personal.close();
  await remove();
  expect((await service.send('GET', `/directory/users/${claimant.user}`)).status).toBe(404);
  const sent = await service.send('GET', `/packets/${packet}/shares?user_id=zoe`);
  expect(sent.body.shares).toMatchObject([{ contact_value: bert.contact, status: 'invited' }]);
});

test("sharing in a user's name without a token does not count towards the user's limits", async () => {
  const zoe = somebody();
  const packet = await storedPacket(service);
  const used = await Promise.all(
    Array.from({ length: 62 }, (_, n) =>
      share(n % 2 ? service : neighbour, packet, somebody().contact, zoe.user),
    ),
  );
  expect(used.filter(({ status }) => status === 201)).toHaveLength(60);
  expect(used.filter(({ status }) => status === 429)).toHaveLength(2);

  const own = await as(zoe.user);
  const asZoe = (contact: string) =>
    service.send('POST', '/shares', { packet_id: packet, contact_value: contact }, own);
  const shared = await Promise.all(Array.from({ length: 62 }, () => asZoe(somebody().contact)));
  expect(shared.filter(({ status }) => status === 201)).toHaveLength(60);
  expect(shared.filter(({ status }) => status === 429)).toHaveLength(2);
  // After the first token, requests without a token can't act as the user.
  expect((await share(service, packet, somebody().contact, zoe.user)).status).toBe(403);

  // An export has both, and an erasure removes both.
  const lookedUp = async () => {
    const { folder, remove } = await temporaryFolder();
    const personal = packetPersonalData(readSettings({ DATA_DIR: folder }), service.connection);
    const count = (await findLookups(service.pool, zoe.user)).length;
    await personal.erase(zoe.user, []);
    await personal.close();
    await remove();
    return count;
  };
  expect([await lookedUp(), await lookedUp()]).toEqual([120, 0]);
});
