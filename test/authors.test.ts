import { afterAll, beforeAll, expect, test } from 'vitest';
import { packetHash } from '../src/packet-service/core/packet-format/hash.ts';
import { canonicalJson } from '../src/packet-service/core/packet-format/jcs.ts';
import { newUlid, ulidToUuid } from '../src/packet-service/core/packet-format/ulid.ts';
import { type RunningService, runningService } from './helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from './helpers/user-registry.ts';

let service: RunningService;
let amina: Record<string, string>;
beforeAll(async () => {
  service = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET });
  amina = bearer(await secretToken('amina'));
});
afterAll(() => service.stop());

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

async function created(path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
  const answer = await service.send('POST', path, body, headers);
  expect(answer.status, answer.text).toBe(201);
  return (
    answer.body.packet_uuid ?? answer.body.thread_id ?? answer.body.share_id ?? answer.body.invitation_id
  );
}

function finalized(body: object, type = 'note') {
  const header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type };
  const hash = packetHash(canonicalJson(header), canonicalJson(body));
  return { Header: header, Body: body, Footer: { hash, enc: 'none', lang: 'en' } };
}

async function senderOf(packet: string, headers: Record<string, string> = {}): Promise<string | undefined> {
  const { text } = await service.send('POST', '/graph/materialize', {}, headers);
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
    .find(({ subject, predicate }) => subject === packet && predicate === 'packet:sender')?.object;
}

async function authorIn(table: string, key: string, ulid: string): Promise<string | null> {
  const { rows } = await service.pool.query(`SELECT author FROM ${table} WHERE ${key} = $1`, [
    ulidToUuid(ulid),
  ]);
  expect(rows).toHaveLength(1);
  return rows[0].author;
}

test("the token's user is stored with every packet, never in it, and is its sender in the graph", async () => {
  const thread_id = await created('/chat/threads', { name: 'Rust' }, amina);
  const packets = [
    await created('/intake/scouting', { ...observation, from_user: 'whoever' }, amina),
    await created('/intake/chat-message', { thread_id, text: 'Rust' }, amina),
    await created('/packets', finalized({ message: 'x' }), amina),
    await created('/packets', finalized({ thread_id, text: 'x' }, 'chat_message'), amina),
  ];
  const batch = await service.send(
    'POST',
    '/intake/batch',
    [{ intake: 'scouting', body: observation }],
    amina,
  );
  packets.push(batch.body.results[0].packet_uuid);
  for (const packet of packets) {
    expect(await authorIn('packets', 'id', packet)).toBe('amina');
    expect(await senderOf(packet, amina)).toBe('amina');
  }
  const { body } = await service.send('GET', `/packets/${packets[0]}`);
  expect(JSON.stringify(body)).not.toContain('amina');
});

test('without a token there is no author: a message has the sender in its body, an observation none', async () => {
  const thread_id = await created('/chat/threads', { name: 'Rust', created_by: 'ben' });
  const message = await created('/intake/chat-message', { thread_id, text: 'x', from_user: 'ben' });
  const seen = await created('/intake/scouting', { ...observation, from_user: 'ben' });
  expect(await authorIn('packets', 'id', message)).toBeNull();
  expect(await authorIn('packets', 'id', seen)).toBeNull();
  expect(await senderOf(message)).toBe('ben');
  expect(await senderOf(seen)).toBeUndefined();
});

test('threads, shares and invitations keep the token that they were made with', async () => {
  const packet_id = await created('/intake/scouting', observation, amina);
  await service.send('PUT', '/directory/users/cleo', { contacts: ['cleo@example.org'], discoverable: true });
  const made = async (headers: Record<string, string>, user: string) => [
    await authorIn(
      'chat_threads',
      'thread_id',
      await created('/chat/threads', { name: 'x', created_by: user }, headers),
    ),
    ...(await Promise.all(
      ['cleo@example.org', 'unknown@example.org'].map(async contact_value =>
        authorIn(
          'shares',
          'share_id',
          await created('/shares', { packet_id, from_user: user, contact_value }, headers),
        ),
      ),
    )),
  ];
  expect(await made(amina, 'amina')).toEqual(['amina', 'amina', 'amina']);
  expect(await made({}, 'ben')).toEqual([null, null, null]);
});

test('each process remembers every user who ever sent a valid token', async () => {
  const other = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET }, service);
  try {
    const dora = bearer(await secretToken('dora'));
    const forged = bearer(await secretToken('eve', {}, 'not the secret of the registry'));
    for (const { send } of [service, other, service]) {
      expect((await send('GET', '/packets', undefined, dora)).status).toBe(200);
      expect((await send('GET', '/packets', undefined, forged)).status).toBe(401);
    }
    const { rows } = await service.pool.query(
      `SELECT user_id FROM token_users WHERE user_id IN ('dora', 'eve')`,
    );
    expect(rows).toEqual([{ user_id: 'dora' }]);
  } finally {
    await other.stop();
  }
});

test('a token whose user PostgreSQL cannot store has no user', async () => {
  for (const sub of ['a\0b', 'a\ud800b']) {
    const answer = await service.send('GET', '/packets', undefined, bearer(await secretToken(sub)));
    expect(answer.status, answer.text).toBe(401);
  }
});

test('a page of packets has the sender of each packet on request', async () => {
  await created('/intake/scouting', { ...observation, observed_at: '2019-03-01T08:15:00Z' }, amina);
  await created('/intake/scouting', { ...observation, observed_at: '2019-03-01T08:16:00Z', from_user: 'x' });
  const query = '/packets?from=2019-03-01&to=2019-03-02&type=note&order=asc';
  for (const accept of ['application/json', 'application/geo+json']) {
    const page = async (more: string) =>
      (await service.send('GET', query + more, undefined, { accept })).body;
    expect((await page('&authors=true')).authors).toEqual(['amina', null]);
    const first = await page('&authors=true&limit=1');
    expect(first.authors).toEqual(['amina']);
    expect((await page(`&authors=true&limit=1&cursor=${first.next_cursor}`)).authors).toEqual([null]);
    expect(await page('')).not.toHaveProperty('authors');
    expect(await page('&authors=false')).not.toHaveProperty('authors');
  }
  expect((await service.send('GET', '/packets?authors=yes')).status).toBe(400);
});
