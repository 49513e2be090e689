import fc from 'fast-check';
import { Parser } from 'n3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { endExportingSessions, exportingSessions } from '../../../../test/helpers/exports.ts';
import { insertPackets } from '../../../../test/helpers/many-packets.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';
import { openPool } from '../../../platform/database/database.ts';
import { packetHash } from '../../core/packet-format/hash.ts';
import { canonicalJson } from '../../core/packet-format/jcs.ts';
import { newUlid } from '../../core/packet-format/ulid.ts';
import type { ExportFilter } from '../../core/packets/copy-store.ts';
import { exportGraph } from './export.ts';
import { asNdjson } from './triples.ts';

let service: RunningService;
let closed: RunningService;
beforeAll(async () => {
  service = await runningService();
  const tokens = { AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET };
  closed = await runningService(tokens, service);
});
afterAll(async () => {
  await closed.stop();
  await service.stop();
});

interface Triple {
  subject: string;
  predicate: string;
  object: string;
}

const POINT = { lat: 1, lon: 2 };
const observation = { observed_at: '2026-03-01T08:15:00+03:00', capture_point: POINT };

async function observe(more: object = {}): Promise<string> {
  const answer = await service.send('POST', '/intake/scouting', { ...observation, ...more });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.packet_uuid;
}

async function triples(
  filter?: object,
  headers: Record<string, string> = {},
  of = service,
): Promise<Triple[]> {
  const answer = await of.send('POST', '/graph/materialize', filter, headers);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  return answer.text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line));
}

const of = (all: Triple[], packet: string) =>
  all.filter(({ subject }) => subject === packet).map(({ predicate, object }) => [predicate, object]);

/**
 * Reads RDF with a parser that is not ours.
 * @throws Error at the first line that is not in the format
 */
function parseRdf(text: string, format: 'application/n-triples' | 'text/turtle') {
  return new Parser({ format }).parse(text).map(({ subject, predicate, object }) => ({
    subject: subject.value,
    predicate: predicate.value,
    object: object.value,
    isIri: object.termType === 'NamedNode',
  }));
}

const VOCABULARY = 'urn:fieldtrace:vocabulary:';
const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** The triples of all packets, as somebody would write them down who reads GET /packets. */
async function writtenDown(): Promise<Triple[]> {
  const found: Triple[] = [];
  for (let cursor = ''; ; ) {
    const { packets, next_cursor } = (await service.send('GET', `/packets?limit=1000&cursor=${cursor}`)).body;
    for (const { Header, Body } of packets) {
      const attachments = (Body.attachments ?? []).map((item: string | { id?: string; url?: string }) =>
        typeof item === 'string' ? item : (item.id ?? item.url),
      );
      const pairs = [
        ['rdf:type', ['Packet']],
        ['packet:type', [Header.type]],
        ['packet:geoid', [Header.geoid, ...(Body.geoids ?? [])]],
        ['packet:timestamp', [Header.timestamp]],
        ['packet:prev', [Header.prev]],
        ['packet:thread', [Body.thread_id]],
        ['packet:sender', [Header.type === 'chat_message' ? Body.from_user : undefined]],
        ['packet:attachment', attachments],
      ] as const;
      for (const [predicate, objects] of pairs) {
        const named = new Set<string>(objects.filter(Boolean));
        for (const object of named) found.push({ subject: Header.id, predicate, object });
      }
    }
    if (!next_cursor) return found;
    cursor = next_cursor;
  }
}

const sorted = (all: Triple[]) =>
  all.map(({ subject, predicate, object }) => JSON.stringify([subject, predicate, object])).sort();

async function nTriples(filter?: object): Promise<Triple[]> {
  const accept = { accept: 'application/n-triples;q=0.9, application/x-ndjson;q=0.1' };
  const answer = await service.send('POST', '/graph/materialize', filter, accept);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/n-triples');
  const statements = parseRdf(answer.text, 'application/n-triples');
  // With the names that they have in NDJSON.
  return statements.map(({ subject, predicate, object, isIri }) => ({
    subject: subject.replace('urn:fieldtrace:packet:', ''),
    predicate: predicate === RDF_TYPE ? 'rdf:type' : predicate.replace(VOCABULARY, 'packet:'),
    object: isIri ? decodeURIComponent(object.replace(/^urn:fieldtrace:\w+:/, '')) : object,
  }));
}

test('an observation is its type, GeoID, time, predecessor and attachments; a message its thread and sender too', async () => {
  const first = await observe();
  const { geoid } = (await service.send('GET', `/packets/${first}`)).body.Header;
  const attachments = ['att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2', { url: 'https://x/y' }, { size: 7 }];
  const second = await observe({ prev: first, attachments });
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: 'amina' }))
    .body;
  const said = { thread_id, text: 'Rust', from_user: 'amina', geoids: ['g 1', 'g 2'] };
  const message = (await service.send('POST', '/intake/chat-message', said)).body.packet_uuid;
  const sent = (await service.send('GET', `/packets/${message}`)).body.Header.timestamp;

  const all = await triples();
  const own = [
    ['rdf:type', 'Packet'],
    ['packet:type', 'note'],
    ['packet:geoid', geoid],
    ['packet:timestamp', '2026-03-01T08:15:00+03:00'],
  ];
  expect(of(all, first)).toEqual(own);
  expect(of(all, second)).toEqual([
    ...own,
    ['packet:prev', first],
    ['packet:attachment', 'att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2'],
    ['packet:attachment', 'https://x/y'],
  ]);
  expect(of(all, message)).toEqual([
    ['rdf:type', 'Packet'],
    ['packet:type', 'chat_message'],
    ['packet:geoid', 'g 1'],
    ['packet:timestamp', sent],
    ['packet:thread', thread_id],
    ['packet:sender', 'amina'],
    ['packet:geoid', 'g 2'],
  ]);
});

test('filters are by GeoID, further ones too, by type, by packet and by number, alone and together', async () => {
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'x', created_by: 'amina' }))
    .body;
  const say = async (geoids: string[]) =>
    (await service.send('POST', '/intake/chat-message', { thread_id, text: 'x', geoids })).body.packet_uuid;
  const [own, further, both, other] = [
    await say(['plot']),
    await say(['other', 'plot']),
    await say(['plot', 'plot', 'other']),
    await say(['another']),
  ];
  const subjects = async (filter: object) => [
    ...new Set((await triples(filter)).map(({ subject }) => subject)),
  ];
  expect((await subjects({ geoid: 'plot' })).sort()).toEqual([own, further, both].sort());
  expect(of(await triples({ geoid: 'plot' }), both)).toEqual(of(await triples(), both));
  expect(await subjects({ geoid: 'plot', type: 'note' })).toEqual([]);
  expect((await subjects({ geoid: 'plot', type: 'chat_message' })).sort()).toEqual(
    [own, further, both].sort(),
  );
  expect(await subjects({ packet_id: other })).toEqual([other]);
  expect(await subjects({ geoid: 'plot', limit: 2 })).toEqual([both, further]);
  expect(await subjects({ type: 'nothing has it' })).toEqual([]);
});

test('a time range gives the packets of the same range of pages', async () => {
  const times = [
    '2020-01-31T23:30:00Z',
    '2020-02-01T00:30:00+01:00',
    '2020-02-01T23:59:59.999Z',
    '2020-02-02',
  ];
  for (const time of times) await observe({ observed_at: time.length > 10 ? time : `${time}T00:00:00Z` });
  for (const [range, count] of [
    [{ from: '2020-01-01', to: '2020-12-31' }, 4],
    [{ from: '2020-02-01', to: '2020-02-01' }, 1],
    [{ from: '2020-02-01T00:30:00+01:00', to: '2020-02-02T00:00:00Z' }, 4],
    [{ from: '2020-02-01T00:00:00.001', to: '' }, undefined],
    [{ to: '2020-01-31T23:30' }, 2],
    [{ from: '2020-02-02', to: '2020-02-01' }, 0],
    [{ from: '2020-02-01', to: '2020-02-03', type: 'note', limit: 1 }, 1],
  ] as const) {
    const found = new Set((await triples(range)).map(({ subject }) => subject));
    const query = new URLSearchParams({ ...range, limit: 'limit' in range ? '1' : '1000' });
    const { packets } = (await service.send('GET', `/packets?${query}`)).body;
    expect([...found].sort()).toEqual(
      packets.map((packet: { Header: { id: string } }) => packet.Header.id).sort(),
    );
    if (count !== undefined) expect(found.size, JSON.stringify(range)).toBe(count);
  }
  const wrong = await service.send('POST', '/graph/materialize', { to: 'tomorrow' });
  expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringMatching(/^to must be an ISO 8601/)]);
});

test('an area gives the packets of the same area of pages', async () => {
  const locations = [
    { lat: -44, lon: 170 },
    { lat: -44.001, lon: 170 },
    { lat: -44, lon: -179.9 },
  ];
  for (const capture_point of locations) await observe({ capture_point });
  for (const [area, count] of [
    [{ bbox: '169,-45,171,-43' }, 2],
    [{ bbox: '169,-45,-179,-43', type: 'note' }, 3],
    [{ near: '-44,170,50', bbox: '' }, 1],
    [{ near: '-44,170,500' }, 2],
  ] as const) {
    const found = new Set((await triples(area)).map(({ subject }) => subject));
    const { packets } = (await service.send('GET', `/packets?${new URLSearchParams(area)}`)).body;
    const listed = packets.map((packet: { Header: { id: string } }) => packet.Header.id);
    expect([...found].sort(), JSON.stringify(area)).toEqual(listed.sort());
    expect(found.size, JSON.stringify(area)).toBe(count);
  }
});

test('no body, an empty body and {} mean no filter; wrong filters are refused by name', async () => {
  const all = (await triples({})).length;
  expect(all).toBeGreaterThan(0);
  expect((await triples(undefined)).length).toBe(all);
  for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
    expect((await triples('' as unknown as object, { 'content-type': type })).length, type).toBe(all);
  }
  expect((await triples({ geoid: '', type: '', packet_id: '' })).length).toBe(all);
  for (const [body, field] of [
    [{ geoid: 5 }, 'geoid'],
    [{ type: null }, 'type'],
    [{ packet_id: 'x' }, 'packet_id'],
    [{ limit: 0 }, 'limit'],
    [{ bbox: '1,2,3' }, 'bbox'],
    [{ near: 'here' }, 'near'],
  ] as const) {
    const answer = await service.send('POST', '/graph/materialize', body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(`^${field} `)]);
  }
});

const NASTY = [
  '"',
  '\\',
  '\n',
  '\r',
  '\x01',
  '\x02',
  '\\.',
  "'",
  ',',
  '{',
  '%',
  '<',
  '>',
  '\u202e',
  '🌍',
  'شجرة',
];
const hostile = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.array(fc.constantFrom(...NASTY), { maxLength: 8 }).map(parts => parts.join('')),
  )
  .filter(text => text.isWellFormed() && !text.includes('\0'));
const named = hostile.filter(text => text.trim() !== '');
const attachments = fc.array(fc.oneof(hostile, fc.record({ id: hostile }), fc.record({ url: hostile })), {
  maxLength: 3,
});
const message = fc.record({ from_user: named, geoids: fc.array(named, { maxLength: 3 }), attachments });
const finalized = fc.record({ type: named, geoid: hostile, attachments });

/** Stores a message in a thread of its sender. */
async function say(said: { from_user: string }): Promise<void> {
  const thread = await service.send('POST', '/chat/threads', { name: 'x', created_by: said.from_user });
  expect(thread.status, thread.text).toBe(201);
  const body = { ...said, thread_id: thread.body.thread_id, text: 'x' };
  const answer = await service.send('POST', '/intake/chat-message', body);
  expect(answer.status, answer.text).toBe(201);
}

/** Stores a finalized packet: only for those does the client choose type and GeoID. */
async function store({ type, geoid, attachments }: { type: string; geoid: string; attachments: unknown[] }) {
  const Header = { id: newUlid(), geoid, timestamp: '2026-03-01T08:15:00Z', type };
  const Body = { attachments };
  const hash = packetHash(canonicalJson(Header), canonicalJson(Body));
  const answer = await service.send('POST', '/packets', {
    Header,
    Body,
    Footer: { hash, enc: 'none', lang: 'und' },
  });
  expect(answer.status, answer.text).toBe(201);
}

test('each form and filter gives exactly the content of the packets, with any GeoIDs, types, senders and attachments', async () => {
  await fc.assert(
    fc.asyncProperty(message, finalized, async (said, packet) => {
      await say(said);
      await store(packet);
      const all = await writtenDown();
      expect(sorted(await triples())).toEqual(sorted(all));
      expect(sorted(await nTriples())).toEqual(sorted(all));

      const having = (predicate: string, object: string) => {
        const subjects = new Set(
          all
            .filter(triple => triple.predicate === predicate && triple.object === object)
            .map(triple => triple.subject),
        );
        return sorted(all.filter(({ subject }) => subjects.has(subject)));
      };
      expect(sorted(await triples({ type: packet.type }))).toEqual(having('packet:type', packet.type));
      for (const geoid of [packet.geoid, ...said.geoids].filter(Boolean)) {
        expect(sorted(await triples({ geoid }))).toEqual(having('packet:geoid', geoid));
      }
    }),
    { numRuns: runs(25) },
  );
}, 240_000);

test('the vocabulary explains every predicate, and clients that accept anything get JSON', async () => {
  const vocabulary = await service.send('GET', '/vocab');
  expect(vocabulary.headers.get('content-type')).toBe('text/turtle; charset=utf-8');
  const words = parseRdf(vocabulary.text, 'text/turtle');
  const used = new Set(
    (await triples()).map(({ predicate }) => predicate).filter(name => name !== 'rdf:type'),
  );
  const schema = 'http://www.w3.org/2000/01/rdf-schema#';
  for (const name of used) {
    const about = words.filter(({ subject }) => subject === name.replace('packet:', VOCABULARY));
    for (const part of ['label', 'comment', 'domain', 'range']) {
      const said = about.find(({ predicate }) => predicate === schema + part);
      expect(said, `${name} ${part}`).toBeDefined();
      // What is ours in a domain or range is a class that the vocabulary explains too.
      if (said?.object.startsWith(VOCABULARY)) {
        expect(words.map(({ subject }) => subject)).toContain(said.object);
      }
    }
  }
  for (const accept of [
    '*/*',
    'text/html, */*;q=0.1',
    'application/n-triples;q=0, */*',
    'application/json',
  ]) {
    expect((await triples(undefined, { accept })).length, accept).toBeGreaterThan(0);
  }
});

test("with a token the messages of other people's threads are left out", async () => {
  const body = { name: 'x', created_by: 'ben' };
  const { thread_id } = (await service.send('POST', '/chat/threads', body)).body;
  const said = { thread_id, text: 'x', from_user: 'ben', geoids: ['g', 'h'] };
  const message = (await service.send('POST', '/intake/chat-message', said)).body.packet_uuid;
  const seenBy = async (user: string) =>
    of(await triples({}, bearer(await secretToken(user)), closed), message).length;
  expect(await seenBy('ben')).toBe(7);
  expect(await seenBy('eve')).toBe(0);
  expect(of(await triples({ geoid: 'h' }, bearer(await secretToken('eve')), closed), message)).toEqual([]);
});

test('read window by window, as from several servers, every export is the same', async () => {
  const pool = openPool(service.connection, 'packet_service', 2);
  // Many packets of one moment, which no window may divide.
  for (let n = 0; n < 10; n++) await observe({ observed_at: `2026-04-01T00:00:0${n % 2}Z` });
  const read = async (filter: ExportFilter, size?: number) => {
    let text = '';
    for await (const piece of await exportGraph({ exports: pool, pool }, filter, asNdjson, {
      windowSize: size,
    }))
      text += piece;
    return text.split('\n').sort();
  };
  for (const filter of [{}, { type: 'chat_message' }, { geoid: 'plot' }, { limit: 7 }, { type: 'none' }]) {
    const whole = await read(filter);
    for (const size of [1, 3, 1000]) {
      expect(await read(filter, size), JSON.stringify({ filter, size })).toEqual(whole);
    }
  }
  await pool.end();
});

test('an unknown member of the body is 400 with the nearest known name', async () => {
  for (const [body, error] of [
    [{ geoId: 'g' }, 'geoId is not a known field; did you mean geoid?'],
    [{ packetId: 'x', type: 'note' }, 'packetId is not a known field; did you mean packet_id?'],
    [
      { toString: 1 },
      'toString is not a known field; allowed fields: geoid, from, to, made_from, made_to, type, bbox, near, packet_id, limit',
    ],
    [
      { colour: 'red' },
      'colour is not a known field; allowed fields: geoid, from, to, made_from, made_to, type, bbox, near, packet_id, limit',
    ],
  ] as const) {
    const answer = await service.send('POST', '/graph/materialize', body);
    expect([answer.status, answer.body.error]).toEqual([400, error]);
  }
  const wrong = await service.send('POST', '/graph/materialize', { packet_id: 'no id' });
  expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringMatching(/^packet_id must match/)]);
  expect((await service.send('POST', '/graph/materialize', { packet_id: '' })).status).toBe(200);
});

test('at the maximum number of exports, the next one waits for a slot, and gets 503 if none is free in time', async () => {
  const { connection, pool } = service;
  const exports = openPool(connection, 'packet_service', 1);
  const running = await exportGraph({ exports, pool }, {}, asNdjson);
  exports.options.connectionTimeoutMillis = 50;
  const next = exportGraph({ exports, pool }, {}, asNdjson);
  await expect(next).rejects.toMatchObject({ code: 'unavailable', retryAfter: expect.any(Number) });

  exports.options.connectionTimeoutMillis = 60_000;
  const waiting = exportGraph({ exports, pool }, {}, asNdjson);
  await eventually(() => exports.waitingCount === 1);
  running.destroy();
  for await (const piece of await waiting) expect(piece).not.toBe('');
  await exports.end();
});

const exporting = () => exportingSessions(service.pool);

test('an aborted or failed download is never mistaken for a complete one and frees its connection', async () => {
  await insertPackets(service.pool, 60_000);
  const leave = new AbortController();
  const left = await fetch(`${service.url}/graph/materialize`, { method: 'POST', signal: leave.signal });
  await (left.body as ReadableStream).getReader().read();
  expect(await exporting()).toBe(1);
  leave.abort();
  expect(await eventually(exporting, count => count === 0)).toBe(0);

  const broken = await fetch(`${service.url}/graph/materialize`, { method: 'POST' });
  const reader = (broken.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await endExportingSessions(service.pool);
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow();

  // Both connections are free again.
  const counts = await Promise.all([1, 2].map(async () => (await triples({ type: 'bulk' })).length));
  expect(counts).toEqual([240_000, 240_000]);
}, 240_000);
