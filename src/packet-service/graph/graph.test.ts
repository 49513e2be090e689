import { spawn } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../test/helpers/user-registry.ts';
import { openPool } from '../../platform/database.ts';
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

/** Reads RDF with a parser that is not ours, and gives it back as sorted N-Triples. */
function rapper(text: string, format: 'ntriples' | 'turtle'): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn('rapper', ['-q', '-i', format, '-o', 'ntriples', '-', 'urn:base']);
    child.on('error', error =>
      reject(new Error(`rapper is needed: apt-get install raptor2-utils (${error.message})`)),
    );
    let out = '';
    let complaints = '';
    child.stdout.on('data', chunk => {
      out += chunk;
    });
    child.stderr.on('data', chunk => {
      complaints += chunk;
    });
    child.on('close', code => {
      if (code === 0 && complaints === '') resolve(out.split('\n').filter(Boolean).sort());
      else reject(new Error(`rapper ended with ${code}: ${complaints.slice(0, 500)}`));
    });
    child.stdin.end(text);
  });
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

test('no body, an empty one and {} mean no filter; wrong ones are refused by name', async () => {
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
  ] as const) {
    const answer = await service.send('POST', '/graph/materialize', body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(`^${field} `)]);
  }
});

const hostile = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc
      .array(
        fc.constantFrom(
          '"',
          '\\',
          '\n',
          '\r',
          '\x01',
          '\x02',
          '\\.',
          ',',
          "'",
          '\u202e',
          '🌍',
          '<',
          '>',
          '%',
        ),
        {
          maxLength: 8,
        },
      )
      .map(parts => parts.join('')),
  )
  .filter(text => text.isWellFormed() && !text.includes('\0'));

test('whatever GeoIDs, senders, attachments and types are, both forms hold exactly what the packets say', async () => {
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'x', created_by: 'amina' }))
    .body;
  const message = fc.record({
    geoids: fc.array(
      hostile.filter(text => text !== ''),
      { maxLength: 3 },
    ),
    attachments: fc.array(fc.oneof(hostile, fc.record({ id: hostile }), fc.record({ url: hostile })), {
      minLength: 1,
      maxLength: 3,
    }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 4 }), async messages => {
      for (const { geoids, attachments } of messages) {
        const body = { thread_id, text: 'x', geoids, attachments };
        const id = (await service.send('POST', '/intake/chat-message', body)).body.packet_uuid;
        const names = attachments.map(item => (typeof item === 'string' ? item : Object.values(item)[0]));
        const got = of(await triples({ packet_id: id }), id).filter(([predicate]) =>
          ['packet:geoid', 'packet:attachment'].includes(predicate as string),
        );
        const expected = [
          ...new Set(geoids.map(geoid => JSON.stringify(['packet:geoid', geoid]))),
          ...new Set(names.filter(Boolean).map(name => JSON.stringify(['packet:attachment', name]))),
        ];
        expect(got.map(pair => JSON.stringify(pair)).sort()).toEqual(expected.sort());
        const rdf = await service.send(
          'POST',
          '/graph/materialize',
          { packet_id: id },
          { accept: 'application/n-triples' },
        );
        expect((await rapper(rdf.text, 'ntriples')).length).toBe(got.length + 4);
      }
    }),
    { numRuns: 15 },
  );
}, 120_000);

test('N-Triples say the same as NDJSON, and a parser of RDF reads the whole of it and the vocabulary', async () => {
  const count = (await triples()).length;
  const rdf = await service.send('POST', '/graph/materialize', undefined, {
    accept: 'application/n-triples;q=0.9, application/x-ndjson;q=0.1',
  });
  expect(rdf.headers.get('content-type')).toBe('application/n-triples');
  const read = await rapper(rdf.text, 'ntriples');
  expect(read.length).toBe(count);
  const vocabulary = await service.send('GET', '/vocab');
  expect(vocabulary.headers.get('content-type')).toBe('text/turtle; charset=utf-8');
  const words = (await rapper(vocabulary.text, 'turtle')).join('\n');
  const used = new Set(read.flatMap(line => line.match(/urn:fieldtrace:vocabulary:\w+/g) ?? []));
  for (const name of used)
    expect(words, name).toContain(`<${name}> <http://www.w3.org/2000/01/rdf-schema#comment>`);
});

test('with a token the messages of other people`s threads are left out', async () => {
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

test('read window by window, the export is the same', async () => {
  const pool = openPool(service.connection, 'packet_service', 2);
  const read = async (windowed: boolean) => {
    let text = '';
    for await (const piece of await exportGraph({ exports: pool, pool }, {}, asNdjson, windowed))
      text += piece;
    return text.split('\n').sort();
  };
  expect(await read(true)).toEqual(await read(false));
  await pool.end();
});

/** Packets enough that an export of them fills every buffer on its way. */
async function fill(): Promise<void> {
  await service.pool.query(
    `INSERT INTO packets (id, geoid, ts, type, header, body, footer)
     SELECT gen_random_uuid(), 'g', '2026-01-01', 'bulk',
       '{"geoid":"g","id":"01JD7Q2M8XW3N5R6T8V9Y0Z1A2","timestamp":"2026-01-01T00:00:00Z","type":"bulk"}',
       '{"attachments":[],"message":""}', '{}' FROM generate_series(1, 200000)`,
  );
}

async function exporting(): Promise<number> {
  const { rows } = await service.pool.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY (%' AND state = 'active'",
  );
  return rows[0].count;
}

test('a download that is broken off, or fails on the way, is never taken for a whole one and frees its connection', async () => {
  await fill();
  const leave = new AbortController();
  const left = await fetch(`${service.url}/graph/materialize`, { method: 'POST', signal: leave.signal });
  await (left.body as ReadableStream).getReader().read();
  expect(await exporting()).toBe(1);
  leave.abort();
  expect(await eventually(exporting, count => count === 0)).toBe(0);

  const broken = await fetch(`${service.url}/graph/materialize`, { method: 'POST' });
  const reader = (broken.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await service.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY (%' AND state = 'active'",
  );
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow();

  // Both connections are free again, and more ask than there are.
  const counts = await Promise.all([1, 2, 3, 4].map(async () => (await triples({ type: 'bulk' })).length));
  expect(counts).toEqual(Array(4).fill(800_000));
}, 120_000);
