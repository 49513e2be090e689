import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';
import { newUlid, ulidFactory, ulidToUuid } from '../core/packet-format/ulid.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

function finalize(header: object = {}, body: object = {}, footer: object = {}) {
  const Header = {
    id: newUlid(),
    geoid: 'g',
    timestamp: '2026-03-01T08:15:00+03:00',
    type: 'note',
    ...header,
  };
  const Body = { message: 'from afar', attachments: [], ...body };
  const hash = createHash('sha256')
    .update(canonicalize(Header) as string)
    .update(canonicalize(Body) as string)
    .digest('hex');
  return { Header, Body, Footer: { hash, enc: 'none', lang: 'sw', ...footer } };
}

const post = (packet: object, headers?: Record<string, string>) =>
  service.send('POST', '/packets', packet, headers);

test('Footer keys that are array indexes are kept, and the packet reads back, verifies and has its ETag', async () => {
  const packet = finalize(
    {},
    { message: 'Kahawa ☕' },
    { '0': 'नमस्ते दुनिया', '17': { a: 1 }, signature: 'x' },
  );
  expect((await post(packet)).status).toBe(201);
  const path = `/packets/${packet.Header.id}`;
  const read = await service.send('GET', path);
  expect([read.status, read.body]).toEqual([200, packet]);
  expect(read.headers.get('etag')).toBe(`"${packet.Footer.hash}"`);
  const verified = (await service.send('GET', `${path}/verify`)).body;
  expect(verified).toMatchObject({ valid: true, hash: packet.Footer.hash, recomputed: packet.Footer.hash });
  expect((await post(packet)).status).toBe(200);
});

test('a Footer made to look like another hash loses no packet: another Body under the id is 409', async () => {
  const first = finalize();
  expect((await post(first)).status).toBe(201);
  // As JSON this Footer begins {"0":" and the stored hash stands where a hash without such keys would.
  const crafted = finalize(
    { id: first.Header.id },
    { message: 'another' },
    { '0': `999${first.Footer.hash}` },
  );
  expect((await post(crafted)).status).toBe(409);
  const { body } = await service.send('GET', `/packets/${first.Header.id}`);
  expect(body).toEqual(first);
});

test('a timestamp without offset, an enc without its JWE and a lang that is no tag are refused by field', async () => {
  const refused: [string, object][] = [
    ['Header.timestamp', finalize({ timestamp: '2026-03-01T08:15:00' })],
    ['Header.timestamp', finalize({ timestamp: '2026-03-01 08:15' })],
    ['Footer.enc', finalize({}, {}, { enc: 'rot13' })],
    ['Footer.enc', finalize({}, {}, { enc: '' })],
    ['Footer.enc', finalize({}, {}, { enc: 'encrypted' })],
    ['Footer.enc', finalize({}, { jwe: 'not one' }, { enc: 'encrypted' })],
    ['Footer.lang', finalize({}, {}, { lang: 'not a language' })],
    ['Footer.lang', finalize({}, {}, { lang: '' })],
  ];
  for (const [field, packet] of refused) {
    const { status, body } = await post(packet);
    expect([status, body.error], JSON.stringify(packet)).toEqual([400, expect.stringContaining(field)]);
  }
  const taken = [
    finalize({ timestamp: '2026-03-01T08:15:00-0330' }),
    finalize({}, { jwe: 'eyJh.key.iv.text.tag' }, { enc: 'encrypted' }),
    finalize({}, { jwe: { ciphertext: 'x' } }, { enc: 'encrypted' }),
    finalize({}, {}, { lang: 'und' }),
    finalize({}, {}, { lang: 'zh-Hant-TW' }),
  ];
  for (const packet of taken) expect((await post(packet)).status, JSON.stringify(packet)).toBe(201);
});

/** Stores a packet as a version without the rules of today did. */
const insert = ({ Header, Body, Footer }: ReturnType<typeof finalize>, utc = Header.timestamp) =>
  service.pool.query(
    `INSERT INTO packets (id, geoid, ts, type, header, body, footer) VALUES ($1, 'g', $2, 'note', $3, $4, $5)`,
    [ulidToUuid(Header.id), utc, canonicalize(Header), canonicalize(Body), JSON.stringify(Footer)],
  );

test('a packet stored before these rules is still 200 when it comes again, and only that very packet', async () => {
  const old = finalize({ timestamp: '2026-03-01T08:15:00' }, {}, { enc: 'rot13', lang: '?' });
  const { Header } = old;
  await insert(old, `${Header.timestamp}Z`);
  expect((await post(old)).status).toBe(200);
  expect((await post(old, { 'idempotency-key': 'a' })).status).toBe(200);
  expect((await post(finalize(Header, { message: 'another' }, { lang: '?' }))).status).toBe(400);
  expect((await post(finalize({ ...Header, id: newUlid() }))).status).toBe(400);
});

const DAY_MS = 24 * 3600 * 1000;
const MINUTE_MS = 60_000;
/** A moment so long from now, with an offset of three hours. */
const ahead = (ms: number) => `${new Date(Date.now() + ms + 3 * 3600_000).toISOString().slice(0, 19)}+03:00`;
/** The id of a phone whose clock is ahead by so much. */
const idAhead = (ms: number) => ulidFactory(() => Date.now() + ms)();

test('a timestamp, or the time in an id, more than a day ahead is refused by field, unless stored before', async () => {
  const [tooFar, justNot] = [DAY_MS + MINUTE_MS, DAY_MS - MINUTE_MS];
  expect((await post(finalize({ timestamp: ahead(justNot), id: idAhead(justNot) }))).status).toBe(201);
  // Only the time of Header.id counts, not those of other ids.
  const far = { prev: idAhead(2 * DAY_MS) };
  expect((await post(finalize(far, { attachments: [`att_${far.prev}`] }))).status).toBe(201);

  const refused: [string, ReturnType<typeof finalize>][] = [
    ['Header.timestamp', finalize({ timestamp: ahead(tooFar) })],
    ['Header.timestamp', finalize({ timestamp: '9999-12-31T23:59:59.999999999-14:00' })],
    ['Header.timestamp', finalize({ timestamp: '9999-12-31T23:59:59.999999999+14:00' })],
    ['Header.id', finalize({ id: idAhead(tooFar) })],
    ['Header.id', finalize({ id: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ' })],
  ];
  for (const [field, packet] of refused) {
    const { status, body, headers } = await post(packet);
    expect([status, body.error]).toEqual([400, expect.stringContaining(field)]);
    if (!packet.Header.timestamp.endsWith('-14:00')) expect(body.error).toContain('more than a day ahead');
    expect(Math.abs(Date.parse(headers.get('date') as string) - Date.now())).toBeLessThan(MINUTE_MS);
    expect((await service.send('GET', `/packets/${packet.Header.id}`)).status).toBe(404);
  }

  for (const packet of [finalize({ timestamp: ahead(tooFar) }), finalize({ id: idAhead(tooFar) })]) {
    await insert(packet);
    expect((await post(packet)).status).toBe(200);
    expect((await post(finalize(packet.Header, { message: 'another' }))).status).toBe(400);
  }
});

test('a finalized chat message follows the same rule', async () => {
  const thread = await service.send('POST', '/chat/threads', { name: 'Clocks', created_by: 'ana' });
  const { thread_id } = thread.body;
  const say = (header: object) =>
    post(finalize({ type: 'chat_message', ...header }, { thread_id, text: 'Kesho?', from_user: 'ana' }));
  expect((await say({ timestamp: ahead(DAY_MS - MINUTE_MS) })).status).toBe(201);
  for (const [field, header] of [
    ['Header.timestamp', { timestamp: ahead(DAY_MS + MINUTE_MS) }],
    ['Header.id', { id: idAhead(DAY_MS + MINUTE_MS) }],
  ] as const) {
    const { status, body } = await say(header);
    expect([status, body.error]).toEqual([400, expect.stringContaining(field)]);
  }
});
