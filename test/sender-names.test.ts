import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningConsole, runningConsole } from './helpers/console.ts';
import { sender } from './helpers/service.ts';

let pages: RunningConsole;
beforeAll(async () => {
  pages = await runningConsole();
});
afterAll(() => pages.stop());

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

/** A user, logged in; no two of them are members of the same company. */
async function person(given: string, discoverable = true) {
  const { id, email } = await pages.newUser('USER', { name: given, surname: 'Uwase' });
  const { send } = await pages.login(email);
  await send('PUT', '/trace/api/user/profile', { discoverable });
  return { id: String(id), email, send };
}

type Send = RunningConsole['send'];

async function share(send: Send, contact: string, from?: string): Promise<void> {
  const { packet_uuid } = (await send('POST', '/packet/intake/scouting', observation)).body;
  const body = { packet_id: packet_uuid, contact_value: contact, ...(from && { from_user: from }) };
  const answer = await send('POST', '/packet/shares', body);
  expect(answer.status, answer.text).toBe(201);
}

const inbox = async (send: Send, query: string) => {
  const answer = await send('GET', `/packet/shares/inbox?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.shares.map(({ from_user, from_name }: Record<string, string>) => [from_user, from_name]);
};

test('who gets a share is told the name of its sender, and nobody else is', async () => {
  const [ana, ben, eve] = [await person('Ana'), await person('Ben'), await person('Eve')];
  await share(ana.send, ben.email);
  await share(ana.send, ben.email);
  expect(await inbox(ben.send, 'details=true')).toEqual([
    [ana.id, 'Ana Uwase'],
    [ana.id, 'Ana Uwase'],
  ]);
  expect(await inbox(ben.send, 'details=true&limit=1')).toEqual([[ana.id, 'Ana Uwase']]);
  expect(await inbox(ben.send, '')).toEqual([
    [ana.id, undefined],
    [ana.id, undefined],
  ]);
  expect(await inbox(eve.send, 'details=true')).toEqual([]);
  expect((await eve.send('GET', `/packet/shares/inbox?details=true&user_id=${ben.id}`)).status).toBe(403);
});

test('sharing in the name of a user without their token does not tell that name', async () => {
  const { id } = await pages.newUser('USER', { name: 'Zawadi', surname: 'Mwangi' });
  const eve = await person('Eve');
  const direct = sender(pages.packetUrl);
  const anonymous: Send = (method, path, body) => direct(method, path.replace('/packet', ''), body);
  await share(anonymous, eve.email, String(id));
  await share(anonymous, eve.email, 'weather station');
  expect(await inbox(eve.send, 'details=true')).toEqual([
    ['weather station', undefined],
    [String(id), undefined],
  ]);
});

test('an invitation that waits for a user names its sender', async () => {
  const [ana, ben, eve] = [await person('Ana'), await person('Ben', false), await person('Eve')];
  await share(ana.send, ben.email);
  const path = `/packet/invitations?contact_value=${encodeURIComponent(ben.email)}`;
  expect((await ben.send('GET', path)).body.invitations).toMatchObject([
    { from_user: ana.id, from_name: 'Ana Uwase' },
  ]);
  expect((await eve.send('GET', path)).status).toBe(403);
});

test('a sender whose name is empty has none', async () => {
  const [ana, ben] = [await person('Ana'), await person('Ben')];
  await share(ana.send, ben.email);
  await pages.query('trace_backend', "UPDATE users SET name = '', surname = '' WHERE id = $1", [ana.id]);
  expect(await inbox(ben.send, 'details=true')).toEqual([[ana.id, undefined]]);
});
