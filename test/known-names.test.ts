import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningConsole, runningConsole } from './helpers/console.ts';
import { sender } from './helpers/service.ts';

let pages: RunningConsole;
beforeAll(async () => {
  pages = await runningConsole();
});
afterAll(() => pages.stop());

/** A user, logged in; by default a member of no company. */
async function person(name: string, role: 'USER' | 'REGIONAL_ADMIN' | 'SYSTEM_ADMIN' = 'USER') {
  const { id, email } = await pages.newUser(role, { name, surname: 'Uwase' });
  const { send } = await pages.login(email);
  await send('PUT', '/trace/api/user/profile', { discoverable: true });
  return { id: String(id), email, send };
}
type Person = Awaited<ReturnType<typeof person>>;

const square = (west: number) => ({
  type: 'Feature',
  properties: { name: 'Lower "meadow"' },
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [west, 1],
        [west + 0.002, 1],
        [west + 0.002, 1.002],
        [west, 1.002],
        [west, 1],
      ],
    ],
  },
});

async function observe({ send }: Pick<Person, 'send'>, lon: number, more: object = {}): Promise<string> {
  const body = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1.001, lon }, ...more };
  const { status, text, body: answer } = await send('POST', '/packet/intake/scouting', body);
  expect(status, text).toBe(201);
  return answer.packet_uuid;
}

async function namesFor({ send }: Pick<Person, 'send'>, people: Person[]): Promise<string[]> {
  const ids = people.map(({ id }) => id).join(',');
  const { status, text, body } = await send('GET', `/packet/people/names?user_ids=${ids}`);
  expect(status, text).toBe(200);
  return body.users.map(({ name }: { name: string }) => name.replace(' Uwase', '')).sort();
}

async function colleagues(...people: Person[]): Promise<void> {
  const [company] = await pages.query(
    'trace_backend',
    `INSERT INTO companies (status, name, folded, tokens, created_by, created_at)
     VALUES ('ACTIVE', 'Cooperative', 'cooperative', '{}', $1, now()) RETURNING id`,
    [people[0]?.id],
  );
  const { id } = company as { id: number };
  for (const member of people) {
    const text = "INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, 'COMPANY_USER')";
    await pages.query('trace_backend', text, [id, member.id]);
  }
}

test('a user knows the names of colleagues and of those who have shared, opened a thread or written in it', async () => {
  const [ana, ben, cas, dan, eve] = [
    await person('Ana'),
    await person('Ben'),
    await person('Cas'),
    await person('Dan'),
    await person('Eve'),
  ];
  const all = [ana, ben, cas, dan, eve];
  expect(await namesFor(ana, all)).toEqual(['Ana']);

  await colleagues(ana, ben);
  expect(await namesFor(ana, all)).toEqual(['Ana', 'Ben']);

  const packet_id = await observe(cas, 10);
  const shared = await cas.send('POST', '/packet/shares', { packet_id, contact_value: ana.email });
  expect(shared.body.status, shared.text).toBe('created');
  expect(await namesFor(ana, all)).toEqual(['Ana', 'Ben', 'Cas']);
  expect(await namesFor(cas, all)).toEqual(['Cas']);

  const { thread_id } = (await dan.send('POST', '/packet/chat/threads', { name: 'Lot 7' })).body;
  const user_ids = [ana.id, eve.id];
  await dan.send('POST', `/packet/chat/threads/${thread_id}/participants`, { user_ids });
  expect(await namesFor(ana, all)).toEqual(['Ana', 'Ben', 'Cas', 'Dan']);
  // Eve was only added.
  expect(await namesFor(ana, [eve])).toEqual([]);
  await eve.send('POST', '/packet/intake/chat-message', { thread_id, text: 'On my way' });
  await expect.poll(() => namesFor(ana, [eve])).toEqual(['Eve']);
  expect(await namesFor(ben, [cas, dan, eve])).toEqual([]);

  for (const role of ['REGIONAL_ADMIN', 'SYSTEM_ADMIN'] as const) {
    expect(await namesFor(await person('Office', role), all)).toEqual(['Ana', 'Ben', 'Cas', 'Dan', 'Eve']);
  }
  const nobody = sender(pages.packetUrl);
  const { body } = await nobody('GET', `/people/names?user_ids=${ana.id}`);
  expect(body).toEqual({ users: [] });
  const many = Array.from({ length: 101 }, (_, n) => n + 1).join();
  expect((await ana.send('GET', `/packet/people/names?user_ids=${many}`)).status).toBe(400);
});

test('shares, threads and messages without a token do not reveal the name of the user they claim', async () => {
  const ana = await person('Ana');
  // Who has never sent a token can be named by anybody.
  const { id } = await pages.newUser('USER', { name: 'Zawadi', surname: 'Mwangi' });
  const direct = sender(pages.packetUrl);
  const from_user = String(id);
  const packet_id = await observe(ana, 40);
  const shared = await direct('POST', '/shares', { packet_id, from_user, contact_value: ana.email });
  expect(shared.body.status, shared.text).toBe('created');
  const opened = { name: 'Open', created_by: from_user };
  const { thread_id } = (await direct('POST', '/chat/threads', opened)).body;
  await direct('POST', `/chat/threads/${thread_id}/participants`, { user_ids: [ana.id] });
  const said = { thread_id, text: 'I agree', from_user };
  expect((await direct('POST', '/intake/chat-message', said)).status).toBe(201);
  const answer = await ana.send('GET', `/packet/people/names?user_ids=${id}`);
  expect(answer.body).toEqual({ users: [] });
});

test('a table has names of fields and known authors on request, in every format', async () => {
  const [ana, ben] = [await person('Ana'), await person('Ben')];
  const { status, text } = await ana.send('PUT', '/packet/fields', square(20));
  expect(status, text).toBe(200);
  const own = await observe(ana, 20.001, { field_name: 'typed', crop: 'bean' });
  const others = await observe(ben, 20.001);
  const neighbour = await observe(ana, 20.1);
  const table = async ({ send }: Pick<Person, 'send'>, path: string) => {
    const answer = await send('GET', path);
    expect(answer.status, answer.text).toBe(200);
    return answer.text;
  };
  const rowsOf = (csv: string): Record<string, string>[] => parse(csv, { columns: true });
  const [from, names] = ['bbox=19,0,21,2', 'names=field_name,author_name'];
  const csv = await table(ana, `/packet/packets.csv?${from}&${names}`);
  expect(csv.split('\r\n')[0]).toMatch(
    /^id,geoid,.*,attachments,field_name,author_name,body\.field_name,crop$/,
  );
  const byId = Object.fromEntries(rowsOf(csv).map(row => [row.id, row]));
  expect(byId[own]).toMatchObject({
    field_name: 'Lower "meadow"',
    author_name: 'Ana Uwase',
    'body.field_name': 'typed',
  });
  expect(byId[others]).toMatchObject({ field_name: 'Lower "meadow"', author_name: '', author: ben.id });
  expect(byId[neighbour]).toMatchObject({ field_name: '', author_name: 'Ana Uwase' });

  await colleagues(ana, ben);
  const chosen = rowsOf(
    await table(ana, `/packet/packets.csv?${from}&names=author_name&columns=crop&order=asc`),
  );
  expect(chosen.map(row => [row.id, row.author_name])).toEqual([
    [own, 'Ana Uwase'],
    [others, 'Ben Uwase'],
    [neighbour, 'Ana Uwase'],
  ]);
  expect(Object.keys(chosen[0] ?? {}).slice(-2)).toEqual(['author_name', 'crop']);

  const lines = (await table(ana, `/packet/packets.ndjson?${from}&${names}&order=asc`)).trim().split('\n');
  expect(lines.map(line => JSON.parse(line).field_name)).toEqual(['Lower "meadow"', 'Lower "meadow"', null]);
  const { features } = JSON.parse(await table(ana, `/packet/packets.geojson?${from}&${names}&order=asc`));
  expect(features[1].properties).toMatchObject({ field_name: 'Lower "meadow"', author_name: 'Ben Uwase' });

  expect(await table(ana, `/packet/packets.csv?${from}`)).not.toMatch(/author_name|meadow/);
  const plain = rowsOf(await table(ana, `/packet/packets.csv?${from}&columns=field_name&order=asc`));
  expect(plain.map(row => row.field_name)).toEqual(['typed', '', '']);
  expect((await ana.send('GET', '/packet/packets.csv?names=phone')).status).toBe(400);
  const direct = await sender(pages.packetUrl)('GET', `/packets.csv?${from}&${names}&order=asc`);
  expect(rowsOf(direct.text).map(row => [row.field_name, row.author_name])).toEqual([
    ['Lower "meadow"', ''],
    ['Lower "meadow"', ''],
    ['', ''],
  ]);
});

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

/** A user, logged in; no two of them are members of the same company. */
async function stranger(name: string, discoverable = true) {
  const { id, email } = await pages.newUser('USER', { name, surname: 'Uwase' });
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

test("only the recipient of a share sees the sender's name", async () => {
  const [ana, ben, eve] = [await stranger('Ana'), await stranger('Ben'), await stranger('Eve')];
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

test("participants of a thread see the names of those who opened it or wrote in it, and nobody else's", async () => {
  const [ana, ben, eve] = [await stranger('Ana'), await stranger('Ben'), await stranger('Eve', false)];
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
  const other = await stranger('Zawadi');
  for (const path of [thread, `${thread}/messages`]) {
    const refused = await other.send('GET', `${path}?details=true`);
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain('Uwase');
  }
});

test('a thread or message without a token does not reveal the name of the user it claims', async () => {
  const ben = await stranger('Ben');
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

test("sharing in a user's name without their token does not reveal that name", async () => {
  const { id } = await pages.newUser('USER', { name: 'Zawadi', surname: 'Mwangi' });
  const eve = await stranger('Eve');
  const direct = sender(pages.packetUrl);
  const anonymous: Send = (method, path, body) => direct(method, path.replace('/packet', ''), body);
  await share(anonymous, eve.email, String(id));
  await share(anonymous, eve.email, 'weather station');
  expect(await inbox(eve.send, 'details=true')).toEqual([
    ['weather station', undefined],
    [String(id), undefined],
  ]);
});

test('a pending invitation names its sender', async () => {
  const [ana, ben, eve] = [await stranger('Ana'), await stranger('Ben', false), await stranger('Eve')];
  await share(ana.send, ben.email);
  const path = `/packet/invitations?contact_value=${encodeURIComponent(ben.email)}`;
  expect((await ben.send('GET', path)).body.invitations).toMatchObject([
    { from_user: ana.id, from_name: 'Ana Uwase' },
  ]);
  expect((await eve.send('GET', path)).status).toBe(403);
});

test('a sender whose name is empty has none', async () => {
  const [ana, ben] = [await stranger('Ana'), await stranger('Ben')];
  await share(ana.send, ben.email);
  await pages.query('trace_backend', "UPDATE users SET name = '', surname = '' WHERE id = $1", [ana.id]);
  expect(await inbox(ben.send, 'details=true')).toEqual([[ana.id, undefined]]);
});
