import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';
import { newUlid, ulidToUuid } from '../core/packet-format/ulid.ts';

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

test('a packet stored before these rules is still 200 when it comes again, and only that very packet', async () => {
  const old = finalize({ timestamp: '2026-03-01T08:15:00' }, {}, { enc: 'rot13', lang: '?' });
  const { Header, Body, Footer } = old;
  await service.pool.query(
    `INSERT INTO packets (id, geoid, ts, type, header, body, footer) VALUES ($1, 'g', $2, 'note', $3, $4, $5)`,
    [
      ulidToUuid(Header.id),
      `${Header.timestamp}Z`,
      canonicalize(Header),
      canonicalize(Body),
      JSON.stringify(Footer),
    ],
  );
  expect((await post(old)).status).toBe(200);
  expect((await post(old, { 'idempotency-key': 'a' })).status).toBe(200);
  expect((await post(finalize(Header, { message: 'another' }, { lang: '?' }))).status).toBe(400);
  expect((await post(finalize({ ...Header, id: newUlid() }))).status).toBe(400);
});
