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

test('who takes part in a thread is told the names of those who have opened it or written in it, and of nobody else', async () => {
  const [ana, ben, eve] = [await person('Ana'), await person('Ben'), await person('Eve', false)];
  const { thread_id } = (await ana.send('POST', '/packet/chat/threads', { name: 'Lot 7' })).body;
  const thread = `/packet/chat/threads/${thread_id}`;
  await ana.send('POST', `${thread}/participants`, { user_ids: [ben.id, eve.id] });
  await eve.send('POST', '/packet/intake/chat-message', { thread_id, text: 'On my way' });

  const { threads } = (await ben.send('GET', '/packet/chat/threads?details=true')).body;
  expect(threads).toMatchObject([{ created_by: ana.id, created_by_name: 'Ana Uwase' }]);
  const detailed = await ben.send('GET', `${thread}?details=true`);
  expect(detailed.body).toEqual(threads[0]);
  const { messages } = (await ben.send('GET', `${thread}/messages?details=true`)).body;
  expect(messages).toMatchObject([{ from_user: eve.id, from_name: 'Eve Uwase' }]);
  // Ben was only added, by a number that anybody can guess.
  const participants = await eve.send('GET', `${thread}/participants`);
  expect(participants.body.participants).toHaveLength(3);
  expect(participants.text).not.toContain('Uwase');
  for (const path of ['/packet/chat/threads', thread, `${thread}?details=false`, `${thread}/messages`]) {
    expect((await ben.send('GET', path)).text).not.toContain('Uwase');
  }
  const stranger = await person('Zawadi');
  for (const path of [thread, `${thread}/messages`]) {
    const refused = await stranger.send('GET', `${path}?details=true`);
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain('Uwase');
  }
});

test('a thread or message without a token does not tell the name that it is in', async () => {
  const ben = await person('Ben');
  // Who has never sent a token can be named by anybody.
  const { id } = await pages.newUser('USER', { name: 'Zawadi', surname: 'Mwangi' });
  const direct = sender(pages.packetUrl);
  const opened = await direct('POST', '/chat/threads', { name: 'Open', created_by: String(id) });
  const { thread_id } = opened.body;
  await direct('POST', `/chat/threads/${thread_id}/participants`, { user_ids: [ben.id] });
  const said = { thread_id, text: 'I agree', from_user: String(id) };
  expect((await direct('POST', '/intake/chat-message', said)).status).toBe(201);
  const { threads } = (await ben.send('GET', '/packet/chat/threads?details=true')).body;
  expect(threads).toEqual([expect.not.objectContaining({ created_by_name: expect.anything() })]);
  const detailed = await ben.send('GET', `/packet/chat/threads/${thread_id}?details=true`);
  expect(detailed.body).toEqual(threads[0]);
  const { messages } = (await ben.send('GET', `/packet/chat/threads/${thread_id}/messages?details=true`))
    .body;
  expect(messages).toMatchObject([{ from_user: String(id), text: 'I agree' }]);
  expect(messages[0]).not.toHaveProperty('from_name');
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
