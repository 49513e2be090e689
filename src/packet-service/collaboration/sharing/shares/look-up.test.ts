import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ContactRegistry, contactRegistry } from '../../../../../test/helpers/contact-registry.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { inbox, share, somebody, storedPacket } from '../../../../../test/helpers/sharing.ts';
import { bearer } from '../../../../../test/helpers/user-registry.ts';
import { newApiKey } from '../../../../platform/tokens/api-key.ts';

let folder: string;
let registry: ContactRegistry;
let service: RunningService;
let neighbour: RunningService;
let packet: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
  registry = await contactRegistry();
  service = await runningService({ DATA_DIR: folder, USER_REGISTRY_URL: `${registry.url}/` });
  neighbour = await runningService({ DATA_DIR: folder, TRUST_PROXY: 'true' }, service);
  packet = await storedPacket(service);
});
afterAll(async () => {
  await neighbour.stop();
  await service.stop();
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

const statusOf = async (contact: string, from = contact) =>
  (await share(service, packet, contact, from)).body.status;

test('the user registry is asked about contacts that the directory does not know', async () => {
  const [ben, eve, nobody] = [somebody(), somebody(), somebody()];
  registry.holders.set(ben.contact, { user_id: ben.user, discoverable: true });
  registry.holders.set(eve.contact, { user_id: eve.user, discoverable: false });
  expect(await statusOf(ben.contact)).toBe('created');
  expect(await inbox(service, ben.user)).toMatchObject([{ packet_id: packet }]);
  expect(await statusOf(eve.contact)).toBe('invitation_sent');
  expect(await statusOf(nobody.contact)).toBe('invitation_sent');
  expect(registry.contacts).toEqual([ben.contact, eve.contact, nobody.contact]);
});

test('an invitation becomes a share once the registry finds its contact', async () => {
  const ben = somebody();
  const first = await share(service, packet, ben.contact);
  registry.holders.set(ben.contact, { user_id: ben.user, discoverable: true });
  const second = await share(service, packet, ben.contact);
  expect(second.body).toMatchObject({ share_id: first.body.invitation_id, status: 'created' });
  expect(await inbox(service, ben.user)).toHaveLength(1);
});

test('a registry that returns nonsense finds nobody', async () => {
  for (const holder of [
    { user_id: '', discoverable: true },
    { user_id: 7, discoverable: true },
    { user_id: 'x'.repeat(257), discoverable: true },
    { user_id: 'ben', discoverable: 'true' },
    { user_id: undefined, discoverable: true },
  ]) {
    const { contact } = somebody();
    registry.holders.set(contact, holder);
    expect(await statusOf(contact)).toBe('invitation_sent');
  }
});

test('a registry that fails, stalls, redirects, hangs up or is gone is never an error to the sender', async () => {
  for (const behaviour of ['fail', 'stall', 'nonsense', 'redirect', 'hang up'] as const) {
    const ben = somebody();
    registry.holders.set(ben.contact, { user_id: ben.user, discoverable: true });
    registry.behaviour = behaviour;
    // A service of its own for each: after several failures a registry is left alone for a while.
    const fresh = await runningService({ DATA_DIR: folder, USER_REGISTRY_URL: registry.url }, service);
    const answer = await share(fresh, packet, ben.contact);
    expect([behaviour, answer.status, answer.body.status]).toEqual([behaviour, 201, 'invitation_sent']);
    await fresh.stop();
  }
  registry.behaviour = 'answer';
  const gone = await runningService({ DATA_DIR: folder, USER_REGISTRY_URL: 'http://127.0.0.1:1' }, service);
  for (let n = 0; n < 8; n++) {
    const answer = await share(gone, packet, somebody().contact, 'patient');
    expect([answer.status, answer.body.status]).toEqual([201, 'invitation_sent']);
  }
  await gone.stop();
});

test('a registry that fails for contacts is still asked about keys', async () => {
  const settings = { DATA_DIR: folder, USER_REGISTRY_URL: registry.url, AUTH_MODE: 'optional' };
  const fresh = await runningService(settings, service);
  registry.behaviour = 'hang up';
  for (let n = 0; n < 8; n++) await share(fresh, packet, somebody().contact, 'patient');
  registry.behaviour = 'answer';
  // After so many failures, contacts are not asked about for a while.
  registry.contacts.length = 0;
  await share(fresh, packet, somebody().contact, 'patient');
  expect(registry.contacts).toEqual([]);
  const answer = await fresh.send('GET', '/packets', undefined, bearer(newApiKey().key));
  expect(answer.status, answer.text).toBe(200);
  await fresh.stop();
});

test('nobody finds the owners of contacts by trying: 60 different contacts an hour across all processes', async () => {
  const { user } = somebody();
  const known = somebody().contact;
  const first = await share(service, packet, known, user);
  const answers = await Promise.all(
    Array.from({ length: 70 }, (_, n) =>
      share(n % 2 ? service : neighbour, packet, somebody().contact, user),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(59);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(11);
  for (const { headers, body } of refused) {
    expect(Object.keys(body)).toEqual(['error']);
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(3500);
    expect(seconds).toBeLessThanOrEqual(3600);
  }
  // Whom one shares with already stays free, and so does everybody else.
  expect((await share(service, packet, known, user)).text).toBe(first.text);
  expect((await share(service, await storedPacket(service), known, user)).status).toBe(201);
  expect((await share(service, packet, somebody().contact, somebody().user)).status).toBe(201);

  await service.pool.query(`UPDATE directory_lookups SET at = at - interval '1 hour' WHERE sender = $1`, [
    `name ${user}`,
  ]);
  expect((await share(service, packet, somebody().contact, user)).status).toBe(201);
});

test('callers without a token gain nothing by changing names: 600 an hour from one address', async () => {
  const at = { 'x-forwarded-for': '198.51.100.7' };
  await service.pool.query(
    `INSERT INTO directory_lookups (sender, contact, at)
     SELECT 'address 198.51.100.7', 'contact ' || n, now() FROM generate_series(1, 595) AS n`,
  );
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => share(neighbour, packet, somebody().contact, somebody().user, at)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(5).fill(429)]);
  const otherAddress = { 'x-forwarded-for': '198.51.100.8' };
  expect((await share(neighbour, packet, somebody().contact, 'ana', otherAddress)).status).toBe(201);

  // A network gives each of its customers a /64 of IPv6.
  await service.pool.query(
    `INSERT INTO directory_lookups (sender, contact, at)
     SELECT 'address 2001:db8:0:7::/64', 'contact ' || n, now() FROM generate_series(1, 599) AS n`,
  );
  const from = (ip: string) =>
    share(neighbour, packet, somebody().contact, somebody().user, { 'x-forwarded-for': ip });
  expect((await from('2001:db8:0:7::1')).status).toBe(201);
  expect((await from('2001:db8:0:7:ffff::2')).status).toBe(429);
  expect((await from('2001:db8:0:8::1')).status).toBe(201);
});
