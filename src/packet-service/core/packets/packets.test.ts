import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';
import { parseJsonText } from '../../../platform/json-text.ts';
import { newUlid, ulidToUuid } from '../packet-format/ulid.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET });
});
afterAll(() => service.stop());

const observation = { observed_at: '2020-01-01T00:00:00Z', capture_point: { lat: 1, lon: 2 } };

/** Two hours, of which the first is the one before this. */
async function lastHours(headers: Record<string, string> = {}): Promise<number[]> {
  const from = new Date(Math.floor(Date.now() / 3_600_000 - 1) * 3_600_000).toISOString();
  const { status, body, text } = await service.send(
    'GET',
    `/packets/arrivals?from=${from}&hours=3`,
    undefined,
    headers,
  );
  expect(status, text).toBe(200);
  expect(body.hours[0].from).toBe(from);
  return body.hours.map(({ count }: { count: number }) => count);
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

test('packets count in the hour in which they came in, and messages only for those who may read them', async () => {
  expect(await lastHours()).toEqual([0, 0, 0]);
  const [ana, ben] = [bearer(await secretToken('ana')), bearer(await secretToken('ben'))];
  for (let n = 0; n < 3; n++) await service.send('POST', '/intake/scouting', observation);
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'Coffee' }, ana)).body;
  await service.send('POST', '/intake/chat-message', { thread_id, text: 'hello' }, ana);
  expect([sum(await lastHours()), sum(await lastHours(ben)), sum(await lastHours(ana))]).toEqual([3, 3, 4]);
});

test('the packets of an hour are those of the same time in their ids, whenever they were observed', async () => {
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const at = (time: number) => new Date(time).toISOString();
  const { packet_uuid } = (await service.send('POST', '/intake/scouting', observation)).body;
  const made = Number(BigInt(`0x${ulidToUuid(packet_uuid).replaceAll('-', '').slice(0, 12)}`));
  const listed = async (from: number, to: number) => {
    const query = `made_from=${at(from)}&made_to=${at(to)}`;
    const { body } = await service.send('GET', `/packets?limit=1000&${query}`);
    return body.packets.some(({ Header }: { Header: { id: string } }) => Header.id === packet_uuid);
  };
  expect(await listed(made, made)).toBe(true);
  expect(await listed(made + 1, made + 3_600_000)).toBe(false);
  expect(await listed(hour - 3_600_000, made - 1)).toBe(false);
  const [day, early] = ['made_from=1969-12-31&made_to=9999-12-31', 'made_to=1969-12-31'];
  const countOf = async (query: string) =>
    (await service.send('GET', `/packets?limit=1000&${query}`)).body.count;
  expect(await countOf(day)).toBe(await countOf(''));
  expect(await countOf(early)).toBe(0);
});

test('invalid hours and times are refused by field', async () => {
  for (const [query, field] of [
    ['from=yesterday', 'from'],
    ['from=1969-12-31', 'from'],
    ['hours=3', 'from'],
    ['from=2026-03-01&hours=49', 'hours'],
    ['from=2026-03-01&hours=0', 'hours'],
  ]) {
    const { status, body } = await service.send('GET', `/packets/arrivals?${query}`);
    expect([status, body.error], query).toEqual([
      400,
      expect.stringMatching(new RegExp(`^(?:query )?${field} |'${field}'`)),
    ]);
  }
  const { status, body } = await service.send('GET', '/packets?made_to=yesterday');
  expect([status, body.error]).toEqual([400, 'made_to must be an ISO 8601 date-time or date']);
});

/** The hash of a packet as anyone would compute it from what GET returned, with other code than ours. */
function independentHash(packetText: string): string {
  const { Header, Body } = parseJsonText(packetText) as Record<string, object>;
  return createHash('sha256')
    .update(canonicalize(Header) as string)
    .update(canonicalize(Body) as string)
    .digest('hex');
}

interface Finalized {
  Header: Record<string, unknown>;
  Body: Record<string, unknown>;
  Footer: Record<string, unknown>;
}

function finalize(header: Record<string, unknown> = {}, body: Record<string, unknown> = {}): Finalized {
  const Header = {
    id: newUlid(),
    geoid: 'g',
    timestamp: '2026-03-01T08:15:00+03:00',
    type: 'note',
    ...header,
  };
  const Body = { message: 'from afar', attachments: [], ...body };
  const Footer = { hash: independentHash(JSON.stringify({ Header, Body })), enc: 'none', lang: 'sw' };
  return { Header, Body, Footer };
}

test('what GET returns hashes to Footer.hash, whatever JSON was sent', async () => {
  const values = fc.dictionary(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' }),
    { maxKeys: 6 },
  );
  await fc.assert(
    fc.asyncProperty(values, async extra => {
      const text = JSON.stringify({
        ...extra,
        ...observation,
        message: undefined,
        attachments: undefined,
        geojson: undefined,
      });
      fc.pre(!/\\u(d[89a-f]|0000)/i.test(text));
      const created = await service.send('POST', '/intake/scouting', text);
      expect(created.status, created.text).toBe(201);
      const { text: packet, body } = await service.send('GET', `/packets/${created.body.packet_uuid}`);
      expect(independentHash(packet)).toBe(body.Footer.hash);
      const { observed_at: _, ...sent } = parseJsonText(text) as Record<string, unknown>;
      expect(body.Body).toEqual({ message: '', attachments: [], ...sent });
    }),
    { numRuns: runs(150) },
  );
});

test('a packet is found by its id in either case, and any other id is not found', async () => {
  const { body } = await service.send('POST', '/intake/scouting', observation);
  expect((await service.send('GET', `/packets/${body.packet_uuid.toLowerCase()}`)).status).toBe(200);
  for (const id of [newUlid(), 'x', '%00', '01563e3a-b5d3-d676-4c61-efb99302bd5b', "' or 1=1"]) {
    const answer = await service.send('GET', `/packets/${encodeURIComponent(id)}`);
    expect(answer.status).toBe(404);
    expect(Object.keys(answer.body)).toEqual(['error']);
  }
});

test("a packet's ETag is its hash, and clients that have it get 304", async () => {
  const { body } = await service.send('POST', '/intake/scouting', observation);
  const path = `/packets/${body.packet_uuid}`;
  const first = await service.send('GET', path);
  const tag = first.headers.get('etag') as string;
  expect(tag).toBe(`"${first.body.Footer.hash}"`);
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await service.send('GET', path, undefined, { 'if-none-match': known });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
  }
  expect((await service.send('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200);
});

test('a finalized packet keeps its id, its header and its hash', async () => {
  const packet = finalize({ tenant: { coop: 'Kivu' }, note: 'kept' }, { crop: 'coffee', '\u00e9': 1e21 });
  const stored = await service.send('POST', '/packets', packet);
  expect([stored.status, stored.body]).toEqual([201, { packet_uuid: packet.Header.id }]);
  const { body, text } = await service.send('GET', `/packets/${packet.Header.id}`);
  expect(body).toEqual(packet);
  expect(independentHash(text)).toBe(packet.Footer.hash);
});

test('the same finalized packet twice is 200 and one copy; another packet under its id is 409', async () => {
  const packet = finalize();
  expect((await service.send('POST', '/packets', packet)).status).toBe(201);
  expect((await service.send('POST', '/packets', packet)).status).toBe(200);
  const other = finalize({ id: packet.Header.id }, { message: 'another' });
  const conflict = await service.send('POST', '/packets', other);
  expect(conflict.status).toBe(409);
  expect(conflict.body.error).toContain('Header.id');

  const racing = finalize();
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await service.send('POST', '/packets', racing)).status),
  );
  expect(statuses.sort()).toEqual([...Array(19).fill(200), 201]);
});

test('a finalized packet with a wrong hash or field is refused by field', async () => {
  const good = finalize();
  const wrong: [string, unknown][] = [
    ['Footer.hash', { ...good, Body: { ...good.Body, message: 'changed' } }],
    ['Footer.hash', { ...good, Footer: { ...good.Footer, hash: 'ABC' } }],
    ['Footer.enc', { ...good, Footer: { hash: good.Footer.hash, lang: 'en' } }],
    ['Header.id', { ...good, Header: { ...good.Header, id: 'x' } }],
    ['Header.timestamp', finalize({ timestamp: '2026-02-30T00:00:00Z' })],
    ['Header.geoid', finalize({ geoid: 5 })],
    ['Header.type', finalize({ type: '' })],
    ['Header.prev', finalize({ prev: 'x' })],
    ['Body.message', finalize({}, { message: 1 })],
    ['Body.attachments', finalize({}, { attachments: 'x' })],
    ['Footer', { Header: good.Header, Body: good.Body }],
    ['Extra', { ...good, Extra: 1 }],
  ];
  for (const [field, packet] of wrong) {
    const { status, body } = await service.send('POST', '/packets', packet);
    expect(status, field).toBe(400);
    expect(body.error, JSON.stringify(packet)).toContain(field);
  }
});

test('a packet of 512 KiB is stored, a larger one is 413', async () => {
  const message = 'x'.repeat(512 * 1024 - 700);
  expect((await service.send('POST', '/intake/scouting', { ...observation, message })).status).toBe(201);
  const large = await service.send('POST', '/intake/scouting', {
    ...observation,
    message: `${message}${'x'.repeat(800)}`,
  });
  expect([large.status, Object.keys(large.body)]).toEqual([413, ['error']]);
  // Canonical numbers are longer than these were sent: the packet counts, not the request.
  const grown = { ...observation, numbers: '@' };
  const text = JSON.stringify(grown).replace('"@"', `[${Array(50_000).fill('1e20').join(',')}]`);
  expect((await service.send('POST', '/intake/scouting', text)).status).toBe(413);
});
