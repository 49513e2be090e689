import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { download, storedFiles, TUS, upload } from '../../../../test/helpers/attachments.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type OpenFeed, openFeed } from '../../../../test/helpers/feed.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { openFileStore } from '../../../platform/files/index.ts';
import { readSettings } from '../../../platform/settings/settings.ts';
import { restoreWords } from '../../collaboration/chat/search/erase-words.ts';
import { packetHash } from '../../core/packet-format/hash.ts';
import { canonicalJson } from '../../core/packet-format/jcs.ts';
import { newUlid } from '../../core/packet-format/ulid.ts';
import { erasePacket } from './erase.ts';

let folder: string;
let removeFolder: () => Promise<void>;
let service: RunningService;
/** another process of the same service */
let other: RunningService;
beforeAll(async () => {
  ({ folder, remove: removeFolder } = await temporaryFolder());
  service = await runningService({ DATA_DIR: folder });
  other = await runningService({ DATA_DIR: folder }, service);
});
afterAll(async () => {
  await other.stop();
  await service.stop();
  await removeFolder();
});

let ana: string;
beforeEach(() => {
  ana = `ana-${newUlid()}`;
});

// biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
async function make(where: string, body: object, headers: Record<string, string> = {}): Promise<any> {
  const answer = await service.send('POST', where, body, headers);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const erase = (id: string, patienceMs = 0) => {
  const files = openFileStore(readSettings({ DATA_DIR: folder }));
  return erasePacket({ connection: service.connection, files, patienceMs }, id, 'asked for by mail');
};

/** Which tables hold any of some texts, in whatever column. */
async function holding(...texts: string[]): Promise<string[]> {
  const { rows } = await service.pool.query(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'packet_service' AND table_type = 'BASE TABLE'`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await service.pool.query(
      `SELECT 1 FROM packet_service.${name} AS r WHERE lower(r::text) LIKE ANY ($1) LIMIT 1`,
      [texts.map(text => `%${text.toLowerCase()}%`)],
    );
    if (rowCount) found.push(name);
  }
  return found;
}

function finalized(body: object, type = 'note') {
  const header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type };
  const hash = packetHash(canonicalJson(header), canonicalJson(body));
  return { Header: header, Body: body, Footer: { hash, enc: 'none', lang: 'en', note: 'Zwölfbein' } };
}

test('an erased message leaves only its Header and hash', async () => {
  const { thread_id } = await make('/chat/threads', { name: 'Open', created_by: ana });
  await make('/intake/chat-message', { thread_id, text: 'the leaf is fine', from_user: ana });
  const file = (await upload(service, 'Grünspecht', { name: 'Grünspecht.txt' })).body.attachment_id;
  const sent = {
    thread_id,
    text: 'The leaf of Xylographius is eaten',
    from_user: ana,
    attachments: [file],
    capture_point: { lat: 11.123456, lon: 22.654321 },
    geoids: ['further-field-7'],
    note: 'Purzelbaum',
  };
  const key = { 'idempotency-key': `k-${ana}` };
  const { packet_uuid: id } = await make('/intake/chat-message', sent, key);
  const before = (await service.send('GET', `/packets/${id}`)).body;
  const secrets = ['xylographius', 'purzelbaum', 'grünspecht', '22.654321', 'further-field-7'];
  expect((await holding(...secrets)).length).toBeGreaterThan(3);
  expect(await storedFiles(folder)).toHaveLength(1);

  expect(await erase(id)).toMatchObject({ again: false, words: 3, files: 1 });

  expect(await holding(...secrets, file.slice(4))).toEqual([]);
  expect(await storedFiles(folder)).toEqual([]);
  const gone = await service.send('GET', `/packets/${id}`);
  expect([gone.status, Object.keys(gone.body)]).toEqual([410, ['error']]);
  expect(gone.body.error).toMatch(/was erased on \d{4}-\d\d-\d\d/);
  expect((await other.send('GET', `/packets/${id}/verify`)).body).toEqual({
    valid: false,
    erased: true,
    erased_at: expect.stringMatching(/^\d{4}-/),
    hash: before.Footer.hash,
    header: before.Header,
    mismatches: [],
  });
  const closed: [string, string, unknown?][] = [
    ['GET', `/packets/${id}/attachments`],
    ['POST', '/shares', { packet_id: id, from_user: ana, contact_value: 'x@example.org' }],
  ];
  for (const [method, where, body] of closed) {
    expect((await service.send(method, where, body)).status, where).toBe(410);
  }
  expect((await download(service, file)).status).toBe(404);
  const without: [string, string, unknown?][] = [
    ['GET', `/chat/threads/${thread_id}/messages`],
    ['POST', '/chat/query', { user_id: ana, keyword: 'xylographius' }],
    ['GET', '/packets?type=chat_message'],
    ['GET', `/packets?geoid=${before.Header.geoid}`],
    ['GET', '/packets?geoid=further-field-7'],
    ['GET', '/packets?bbox=22,11,23,12'],
    ['POST', '/graph/materialize', {}],
    ['POST', '/graph/materialize', { packet_id: id }],
  ];
  for (const [method, where, body] of without) {
    const { status, text } = await service.send(method, where, body);
    expect(status, text).toBe(200);
    expect(text, where).not.toContain(id);
  }
  // The request that brought it is not taken for a new one when the phone sends it again.
  const again = await service.send('POST', '/intake/chat-message', sent, key);
  expect([again.status, again.body.packet_uuid]).toEqual([410, undefined]);
  const item = [{ intake: 'chat-message', body: sent, idempotency_key: key['idempotency-key'] }];
  expect((await service.send('POST', '/intake/batch', item)).body.results[0].status).toBe(410);
  expect(await holding('purzelbaum')).toEqual([]);
});

test('sync and feeds notify everyone who has copies, whatever they follow', async () => {
  const ben = `ben-${newUlid()}`;
  const { thread_id } = await make('/chat/threads', { name: 'Open', created_by: ana });
  const said = { thread_id, text: 'hello', geoids: [`own-${ana}`, `further-${ana}`] };
  const message = (await make('/intake/chat-message', said)).packet_uuid;
  const seen = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const observation = (await make('/intake/scouting', seen)).packet_uuid;
  const entry = { contacts: [`${ben}@example.org`], discoverable: true };
  await service.send('PUT', `/directory/users/${ben}`, entry);
  await make('/shares', { packet_id: observation, from_user: ana, contact_value: `${ben}@example.org` });
  const [anas, bens] = [await openFeed(other.url, ana), await openFeed(other.url, ben)];
  const read = async (query: string) =>
    (await other.send('GET', `/sync/packets?${query}`)).body as {
      since: number;
      packets: { kind: string; packet: { Header: { id: string }; Body?: object; Footer: object } }[];
    };
  const { since } = await eventually(
    () => read('since=0&limit=1000'),
    ({ packets }) =>
      packets.some(({ kind, packet }) => kind === 'packet' && packet.Header.id === observation) &&
      packets.some(({ packet }) => packet.Header.id === message),
  );
  const waiting = read(`since=${since}&wait=30&geoid=further-${ana}`);

  await erase(message);
  await erase(observation);
  const erasures = ({ events }: OpenFeed) => events.filter(({ event }) => event === 'erased');
  await eventually(() => erasures(anas).length > 0 && erasures(bens).length > 0);
  for (const [feed, user, id] of [
    [anas, ana, message],
    [bens, ben, observation],
  ] as const) {
    expect(erasures(feed).map(({ data }) => data)).toEqual([
      {
        type: 'erased',
        user_id: user,
        packet_id: id,
        created_at: expect.any(String),
        ...(feed === anas && { thread_id }),
      },
    ]);
    feed.close();
  }
  const erased = async (query: string) =>
    (await read(query)).packets
      .filter(({ kind }) => kind === 'erased')
      .map(({ packet }) => [packet.Header.id, packet.Body, Object.keys(packet.Footer)]);
  const erasureOf = (id: string) => [id, undefined, ['hash']];
  expect(await erased(`since=${since}`)).toEqual([erasureOf(message), erasureOf(observation)]);
  expect(await erased(`since=${since}&user_id=${ana}`)).toEqual([erasureOf(message)]);
  expect(await erased(`since=${since}&user_id=${ben}`)).toEqual([erasureOf(observation)]);
  expect(await erased(`since=${since}&geoid=own-${ana}`)).toEqual([erasureOf(message)]);
  expect(await erased(`since=0&geoid=further-${ana}`)).toEqual([erasureOf(message)]);
  expect((await waiting).packets.map(({ kind }) => kind)).toEqual(['erased']);
  const all = await read('since=0&limit=1000');
  expect(all.packets.filter(({ packet }) => packet.Header.id === observation)).toHaveLength(1);
});

test('an erased packet is refused when sent again, whatever its Body; other packets keep shared files', async () => {
  const { thread_id } = await make('/chat/threads', { name: 'Open', created_by: ana });
  const shared = (await upload(service, `shared ${ana}`)).body.attachment_id;
  const named = { attachments: [shared] };
  const keeper = finalized({ ...named, message: 'keeper' });
  await make('/packets', keeper);
  const packet = finalized({ ...named, thread_id, text: 'Kuckuckslichtnelke Rost' }, 'chat_message');
  await make('/packets', packet);
  await make('/intake/chat-message', { thread_id, text: 'Rost again' });
  expect(await erase(packet.Header.id)).toMatchObject({ words: 1, files: 0 });

  expect((await service.send('POST', '/packets', packet)).status).toBe(410);
  const changed = { ...packet, Body: { ...packet.Body, text: 'Kuckuckslichtnelke' } };
  changed.Footer = {
    ...changed.Footer,
    hash: packetHash(canonicalJson(changed.Header), canonicalJson(changed.Body)),
  };
  expect((await service.send('POST', '/packets', changed)).status).toBe(410);
  expect(await holding('kuckuckslichtnelke', 'zwölfbein')).toEqual(['packets']);
  expect((await service.send('GET', `/packets/${keeper.Header.id}`)).body.Footer.note).toBe('Zwölfbein');
  expect((await download(service, shared)).status).toBe(200);
  const { body } = await service.send('POST', '/chat/query', { user_id: ana, keyword: 'ROS' });
  expect(body.results).toHaveLength(1);
});

test('a word that was removed with a message is found in the next message that has it, written by any process', async () => {
  const { thread_id } = await make('/chat/threads', { name: 'Open', created_by: ana });
  const say = async (at: RunningService, text: string) => {
    const answer = await at.send('POST', '/intake/chat-message', { thread_id, text });
    expect(answer.status).toBe(201);
    return answer.body.packet_uuid as string;
  };
  const dictionary = async () =>
    (await service.pool.query(`SELECT word FROM chat_words WHERE word = 'pfaffenhuetchen'`)).rowCount;
  const first = await say(service, 'Pfaffenhuetchen');
  // The other process knows the word from now on, and knows it to be in the dictionary.
  const second = await say(other, 'Pfaffenhuetchen');
  await erase(first);
  expect(await dictionary()).toBe(1);
  await erase(second);
  expect(await dictionary()).toBe(0);
  await eventually(async () => {
    await say(other, 'Pfaffenhuetchen');
    return dictionary();
  });
});

test('words that another message still has are restored', async () => {
  const { thread_id } = await make('/chat/threads', { name: 'Open', created_by: ana });
  await make('/intake/chat-message', { thread_id, text: 'Wiedehopf' });
  await service.pool.query(`DELETE FROM chat_words WHERE word = 'wiedehopf'`);
  await restoreWords(service.pool, ['wiedehopf', 'nirgendwo']);
  expect(await holding('nirgendwo')).toEqual([]);
  expect(await holding('wiedehopf')).toContain('chat_words');
});

test("an upload that was started for a packet's file is erased with it", async () => {
  const seen = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const id = `att_${newUlid()}`;
  const { packet_uuid } = await make('/intake/scouting', { ...seen, attachments: [id] });
  const metadata = `id ${Buffer.from(id).toString('base64')},filename ${Buffer.from('Wasserralle').toString('base64')}`;
  const begin = { ...TUS, 'upload-length': '5', 'upload-metadata': metadata };
  expect((await service.send('POST', '/attachments/uploads', undefined, begin)).status).toBe(201);
  await erase(packet_uuid);
  expect(await holding('wasserralle', id.slice(4))).toEqual([]);
});

test('a packet is erased once, only if it exists, and with a reason', async () => {
  const seen = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const { packet_uuid } = await make('/intake/scouting', seen);
  await expect(erase(newUlid())).rejects.toThrow(/packet .* not found/);
  await expect(erase('x')).rejects.toThrow(/packet .* not found/);
  await erase(packet_uuid);
  expect(await erase(packet_uuid)).toMatchObject({ again: true });
});

test('fieldtrace erase packet erases, and reports what', async () => {
  const seen = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: 'Ziegenmelker',
  };
  const { packet_uuid } = await make('/intake/scouting', seen);
  const { host, port, user, password, database } = service.connection as Record<string, string>;
  const url = new URL(`postgres://${user}:${password}@localhost:${port}/${database}`);
  if (host?.startsWith('/')) url.searchParams.set('host', host);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: url.href, DATA_DIR: folder } as NodeJS.ProcessEnv;
  const cli = path.resolve(import.meta.dirname, '../../../../dist/cli.js');
  const run = (...words: string[]) => promisify(execFile)(process.execPath, [cli, ...words], { env });
  await expect(run('erase', 'packet', packet_uuid)).rejects.toThrow(/--reason/);
  const { stdout } = await run('erase', 'packet', packet_uuid, '--reason', 'asked for by mail');
  expect(stdout).toContain(`erased packet ${packet_uuid}`);
  expect(await holding('ziegenmelker')).toEqual([]);
  const { rows } = await service.pool.query('SELECT reason FROM erasures ORDER BY erased_at DESC LIMIT 1');
  expect(rows[0].reason).toBe('asked for by mail');
});
