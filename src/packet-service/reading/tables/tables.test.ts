import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { endExportingSessions, exportingSessions } from '../../../../test/helpers/exports.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { insertPackets } from '../../../../test/helpers/many-packets.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type Answer, type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';
import { openPool } from '../../../platform/database/database.ts';
import { openFileStore } from '../../../platform/files/index.ts';
import { parseJsonText } from '../../../platform/json-text.ts';
import { readSettings } from '../../../platform/settings/settings.ts';
import { erasePacket } from '../../maintenance/erasure/erase.ts';
import { DECLARED_COLUMNS } from './columns.ts';
import { csvWriter } from './csv.ts';
import { exportTable } from './export.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET });
});
afterAll(() => service.stop());

type Row = Record<string, string>;
type Body = Record<string, unknown>;

/** Stores an observation; returns its id. */
async function observe(body: Body = {}, headers: Record<string, string> = {}): Promise<string> {
  const sent = {
    observed_at: '2026-03-01T08:15:00+02:00',
    capture_point: { lat: -1.5, lon: 29.25 },
    ...body,
  };
  const answer = await service.send('POST', '/intake/scouting', sent, headers);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.packet_uuid;
}

async function table(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await service.send('GET', path, undefined, headers);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

/** The rows of a CSV table, by column. */
async function csv(query = '', headers: Record<string, string> = {}): Promise<Row[]> {
  const { text } = await table(`/packets.csv${query}`, headers);
  expect(text.endsWith('\r\n')).toBe(true);
  return parse(text, { columns: true, record_delimiter: '\r\n' });
}

const lines = (text: string) =>
  text
    .split('\n')
    .filter(line => line !== '')
    // biome-ignore lint/suspicious/noExplicitAny: tests look into what they expect
    .map(line => parseJsonText(line) as any);

/** The row of a packet. */
function of(rows: Row[], id: string): Row {
  const row = rows.find(candidate => candidate.id === id);
  expect(row, id).toBeDefined();
  return row as Row;
}

/** GeoID of the point that only a test uses, so that it sees its own packets alone. */
let locations = 0;
async function ownLocation(
  bodies: Body[],
  headers: Record<string, string> = {},
): Promise<{ ids: string[]; geoid: string }> {
  const capture_point = { lat: 10 + locations++ / 100, lon: 20 };
  const ids: string[] = [];
  for (const body of bodies) {
    const point = { ...capture_point, ...(body.capture_point as object) };
    ids.push(await observe({ ...body, capture_point: point }, headers));
  }
  const { body } = await service.send('GET', `/packets/${ids[0]}`);
  return { ids, geoid: body.Header.geoid };
}

test('a table has the declared columns, then those that occur, flattened and sorted', async () => {
  const { ids, geoid } = await ownLocation(
    [
      { message: 'Rost, "schwer"\nüberall 🌱', severity: 2, observer: { name: 'Ana', team: { id: 7 } } },
      {
        tags: ['a', { b: 1 }],
        done: true,
        severity: null,
        capture_point: { accuracy: 4.5 },
        empty: {},
        none: '',
      },
    ],
    bearer(await secretToken('ana')),
  );
  const answer = await table(`/packets.csv?geoid=${geoid}`);
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="packets-\d{4}-\d\d-\d\d.csv"/,
  );
  const further = ['capture_point.accuracy', 'done', 'empty', 'none', 'observer.name', 'observer.team.id'];
  expect(answer.text.split('\r\n')[0]).toBe([...DECLARED_COLUMNS, ...further, 'severity', 'tags'].join());
  const rows = await csv(`?geoid=${geoid}`);
  expect(rows).toHaveLength(2);
  expect(of(rows, ids[0] as string)).toMatchObject({
    geoid,
    type: 'note',
    timestamp: '2026-03-01T08:15:00+02:00',
    lon: '20',
    author: 'ana',
    message: 'Rost, "schwer"\nüberall 🌱',
    severity: '2',
    attachments: '[]',
    'observer.name': 'Ana',
    'observer.team.id': '7',
    done: '',
  });
  expect(of(rows, ids[1] as string)).toMatchObject({
    'capture_point.accuracy': '4.5',
    severity: '',
    done: 'true',
    tags: '["a",{"b":1}]',
    empty: '{}',
    none: '',
  });
});

test('a field of the Body with the name of a column of every packet has another name, and nothing is lost', async () => {
  const { geoid } = await ownLocation([
    {
      type: 'rust',
      author: { name: 'x' },
      lat: 'north',
      '': 1,
      tenant: { id: 't' },
      prev: 'no id',
      'a,"b': 2,
    },
  ]);
  const [row] = await csv(`?geoid=${geoid}`);
  expect(row).toMatchObject({
    type: 'note',
    author: '',
    'body.type': 'rust',
    'body.author.name': 'x',
    'body.lat': 'north',
    'body.': '1',
    'tenant.id': 't',
    prev: 'no id',
    'a,"b': '2',
  });
  const [named] = await csv(`?geoid=${geoid}&columns=${encodeURIComponent('body.type,"a,""b",nowhere,id')}`);
  expect(Object.keys(named as Row)).toEqual([...DECLARED_COLUMNS, 'body.type', 'a,"b', 'nowhere']);
  expect(named).toMatchObject({ 'body.type': 'rust', 'a,"b': '2', nowhere: '' });
});

test('columns= names columns instead of a first pass; an object that is named is JSON', async () => {
  const { geoid } = await ownLocation([{ observer: { name: 'Ana', age: 40 }, severity: 1 }]);
  const [part] = await csv(`?geoid=${geoid}&columns=observer.age,severity`);
  expect(Object.keys(part as Row).slice(DECLARED_COLUMNS.length)).toEqual(['observer.age', 'severity']);
  expect(part).toMatchObject({ 'observer.age': '40', severity: '1' });
  const [whole] = await csv(`?geoid=${geoid}&columns=observer`);
  expect(JSON.parse((whole as Row).observer as string)).toEqual({ name: 'Ana', age: 40 });
});

test('cells that begin like a formula get an apostrophe, numbers do not, and raw=true leaves all as they are', async () => {
  const halfWidth = ['=1+1', '+254 712', '-5', '@x', '\ttab', '\rreturn', '\nline', '=a,"b"'];
  const cells = [...halfWidth, '＝1+1', '＋254', '－5', '＠x'];
  const plain = ['a=1', ' =1', "'x", '，a', '＜1', '\ufeff'];
  const body = Object.fromEntries([...cells, ...plain].map((cell, n) => [`c${n}`, cell]));
  const { geoid } = await ownLocation([{ ...body, negative: -5, '=name': 1, list: ['=1'] }]);
  const [row] = await csv(`?geoid=${geoid}`);
  const found = [...cells, ...plain].map((_, n) => row?.[`c${n}`]);
  expect(found).toEqual([...cells.map(cell => `'${cell}`), ...plain]);
  expect(row).toMatchObject({ negative: '-5', "'=name": '1', list: '["=1"]' });
  expect(await csv(`?geoid=${geoid}&raw=true`)).toMatchObject([{ ...body, negative: '-5', '=name': '1' }]);
});

/** A value as a cell of CSV. */
function asCell(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

test('each format gives exactly the content of the packets', async () => {
  const key = fc.stringMatching(/^[xyzäé ,"\\]{1,3}$/);
  const text = fc.string({ unit: 'grapheme' }).filter(value => !value.includes('\0'));
  const scalar = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(key, value, { maxKeys: 4 }), { minLength: 1, maxLength: 3 }),
      async sent => {
        const { ids, geoid } = await ownLocation(sent.map(further => ({ further: { k: 0, ...further } })));
        const rows = await csv(`?geoid=${geoid}&raw=true`);
        const objects = lines((await table(`/packets.ndjson?geoid=${geoid}`)).text);
        const { features } = (await table(`/packets.geojson?geoid=${geoid}`)).body;
        for (const { length } of [rows, objects, features]) expect(length).toBe(sent.length);
        for (const [index, id] of ids.entries()) {
          const { further } = (await service.send('GET', `/packets/${id}`)).body.Body;
          const row = of(rows, id);
          const object = objects.find(candidate => candidate.id === id);
          const feature = features.find((candidate: { id: string }) => candidate.id === id);
          expect(Object.keys(object)).toEqual(Object.keys(row));
          expect(Object.keys(feature.properties)).toEqual(Object.keys(row));
          expect(feature.geometry).toEqual({ type: 'Point', coordinates: [object.lon, object.lat] });
          for (const [name, held] of Object.entries(further)) {
            expect(row[`further.${name}`]).toBe(asCell(held));
            expect(object[`further.${name}`]).toEqual(held);
            expect(feature.properties[`further.${name}`]).toEqual(
              Array.isArray(held) ? JSON.stringify(held) : held,
            );
          }
          const others = Object.keys(row).filter(
            name => name.startsWith('further.') && !(name.slice(8) in further),
          );
          for (const name of others)
            expect([row[name], object[name]], `${index} ${name}`).toEqual(['', null]);
        }
      },
    ),
    { numRuns: runs(20) },
  );
});

/** The ids of all packets of a filter, page by page, by following the Link header. */
async function pagedIds(query: string, headers: Record<string, string> = {}): Promise<string[]> {
  const ids: string[] = [];
  let path: string | undefined = `/packets?limit=3${query}`;
  while (path !== undefined) {
    const page: Answer = await table(path, headers);
    ids.push(...page.body.packets.map((packet: { Header: { id: string } }) => packet.Header.id));
    const link = page.headers.get('link');
    expect(link === null).toBe(page.body.next_cursor === undefined);
    const next = link === null ? undefined : /^<([^>]+)>; rel="next"$/.exec(link)?.[1];
    path = next && new URL(next, service.url + path).href.slice(service.url.length);
  }
  return ids.sort();
}

const ids = (rows: Row[]) => rows.map(({ id }) => id).sort();

test('every filter of pages gives the packets of all its pages, and Link leads from page to page', async () => {
  const { geoid } = await ownLocation([{}, { observed_at: '2026-04-01T00:00:00+02:00' }, {}, {}]);
  const queries = [
    '',
    `&geoid=${geoid}`,
    '&type=note',
    '&type=none',
    '&from=2026-03-31T23:59:59+02:00',
    '&from=2026-03-31&to=2026-04-01',
    '&bbox=-30,-5,30,9.5',
    '&bbox=170,-5,-170,9.5',
    '&near=-1.5,29.25,1000',
    '&near=10,-179,2e7',
    `&from=&to=&geoid=${geoid}&type=note&bbox=-180,-90,180,90`,
  ];
  for (const query of queries) {
    const found = await csv(`?${query.slice(1)}`);
    expect(ids(found), query).toEqual(await pagedIds(query));
    expect(lines((await table(`/packets.ndjson?${query.slice(1)}`)).text)).toHaveLength(found.length);
  }
  expect((await pagedIds(`&geoid=${geoid}`)).length).toBe(4);
});

test('every filter works with every column of names, in every format and order', async () => {
  const capture_point = { lat: 12.5, lon: 20.5 };
  const ring = [
    [20.499, 12.499],
    [20.501, 12.499],
    [20.501, 12.501],
    [20.499, 12.501],
    [20.499, 12.499],
  ];
  const field = {
    type: 'Feature',
    properties: { name: 'Upper meadow' },
    geometry: { type: 'Polygon', coordinates: [ring] },
  };
  const registered = await service.send('PUT', '/fields', field);
  const geoid = registered.body.fields[0].geoid;
  const own = await observe({ capture_point, observed_at: '2026-05-05T12:00:00Z' });
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'x', created_by: 'guest' }))
    .body;
  const message = { thread_id, text: 'near it', capture_point: { lat: 12.6, lon: 20.6 }, geoids: [geoid] };
  const additional = (await service.send('POST', '/intake/chat-message', message)).body.packet_uuid;
  const filters = ['geoid', 'type', 'from', 'to', 'made_from', 'made_to', 'bbox', 'near'];
  const values: Record<string, string> = {
    geoid,
    type: 'note',
    from: '2026-05-05',
    to: '2027-01-01',
    made_from: '2020-01-01',
    made_to: '2100-01-01',
    bbox: '20,12,21,13',
    near: '12.5,20.5,50000',
  };
  for (const format of ['csv', 'ndjson', 'geojson']) {
    for (const names of ['field_name', 'author_name', 'field_name,author_name']) {
      for (const order of ['', '&order=asc', '&order=desc']) {
        const combined = filters.filter(name => name !== 'type').map(name => `${name}=${values[name]}`);
        for (const query of [...filters.map(name => `${name}=${values[name]}`), combined.join('&')]) {
          const path = `/packets.${format}?${query}&names=${names}${order}&columns=message`;
          const { text } = await table(path);
          expect(text.includes(own), path).toBe(true);
          if (names.includes('field_name')) expect(text, path).toContain('Upper meadow');
        }
      }
    }
  }
  const rows = await csv(`?geoid=${geoid}&names=field_name`);
  expect(of(rows, own).field_name).toBe('Upper meadow');
  expect(of(rows, additional).field_name).toBe('');
});

test('wrong filters and columns are 400 and named', async () => {
  const error = async (query: string) => {
    const answer = await service.send('GET', `/packets.csv?${query}`);
    return [answer.status, answer.body.error];
  };
  expect(await error('from=yesterday')).toEqual([400, expect.stringMatching(/^from must be/)]);
  expect(await error('bbox=1')).toEqual([400, expect.stringMatching(/^bbox/)]);
  expect(await error('limit=5')).toEqual([400, expect.stringMatching(/^limit/)]);
  expect(await error('raw=yes')).toEqual([400, expect.stringMatching(/^raw/)]);
  expect(await error('columns=a,,b')).toEqual([
    400,
    expect.stringMatching(/^columns contains an empty name/),
  ]);
  expect(await error('columns=%22a')).toEqual([400, expect.stringMatching(/^columns must be names/)]);
  expect(await error('columns=a%0Ab')).toEqual([400, expect.stringMatching(/^columns must be names/)]);
  expect(await error(`columns=${'a'.repeat(257)}`)).toEqual([400, expect.stringMatching(/^columns: a+…/)]);
  const many = Array.from({ length: 1001 }, (_, n) => `k${n}`);
  expect(await error(`columns=${many.join()}`)).toEqual([400, expect.stringMatching(/at most 1000 columns/)]);
});

test('with too many fields those of the most packets have columns, and the answer says how many are left out', async () => {
  const many = Array.from({ length: 1001 }, (_, n) => `k${n}`);
  const wide = Object.fromEntries(many.map(name => [name, 1]));
  const { geoid } = await ownLocation([wide, { zone: 'north' }, { zone: 'south', ['x'.repeat(257)]: 1 }]);
  const { headers, text } = await table(`/packets.csv?geoid=${geoid}`);
  const names = (text.split('\r\n')[0] as string).split(',');
  expect(names).toContain('zone');
  expect(names.filter(name => /^k\d+$/.test(name))).toHaveLength(999);
  expect(names.some(name => name.startsWith('xx'))).toBe(false);
  expect(headers.get('fields-left-out')).toBe('3');
  expect((await table(`/packets.csv?geoid=${geoid}&columns=k7`)).headers.has('fields-left-out')).toBe(false);
  expect(await csv(`?geoid=${geoid}&columns=k7,zone`)).toContainEqual(expect.objectContaining({ k7: '1' }));
});

test("messages of closed threads are in their participants' tables alone, as in pages", async () => {
  const ana = bearer(await secretToken('ana'));
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'x' }, ana)).body;
  const said = await service.send('POST', '/intake/chat-message', { thread_id, text: 'a secret' }, ana);
  const id = said.body.packet_uuid;
  for (const headers of [ana, bearer(await secretToken('eve')), {}]) {
    const found = await csv('?columns=text', headers);
    expect(ids(found)).toEqual(await pagedIds('', headers));
    for (const format of ['csv', 'ndjson', 'geojson']) {
      const { text } = await table(`/packets.${format}?columns=text`, headers);
      expect(text.includes('a secret')).toBe(headers === ana);
      expect(text.includes(id)).toBe(headers === ana);
    }
  }
  expect(of(await csv('?type=chat_message&columns=text', ana), id)).toMatchObject({
    text: 'a secret',
    thread_id,
    author: 'ana',
  });
});

test('an erased packet is in no table, as it is on no page', async () => {
  const { ids: stored, geoid } = await ownLocation([
    { message: 'stays' },
    { message: 'personal', secret_field: 1 },
  ]);
  const { folder, remove } = await temporaryFolder();
  const files = openFileStore(readSettings({ DATA_DIR: folder }));
  await erasePacket(
    { connection: service.connection, files, patienceMs: 0 },
    stored[1] as string,
    'asked for',
  );
  await remove();
  const { text } = await table(`/packets.csv?geoid=${geoid}`);
  expect(text).toContain('stays');
  expect(text).not.toContain(stored[1]);
  expect(text).not.toContain('secret_field');
});

test('HEAD returns the type and the name of the file without reading packets', async () => {
  const answer = await service.send('HEAD', '/packets.geojson');
  expect([answer.status, answer.headers.get('content-type'), answer.text]).toEqual([
    200,
    'application/geo+json; charset=utf-8',
    '',
  ]);
});

const exporting = () => exportingSessions(service.pool);

test('an aborted or failed table is never mistaken for a complete one and frees its connection', async () => {
  await insertPackets(service.pool, 60_000, 'bulk');
  const leave = new AbortController();
  const left = await fetch(`${service.url}/packets.csv?columns=filler`, { signal: leave.signal });
  await (left.body as ReadableStream).getReader().read();
  expect(await exporting()).toBe(1);
  leave.abort();
  expect(await eventually(exporting, count => count === 0)).toBe(0);

  const broken = await fetch(`${service.url}/packets.geojson?type=bulk`);
  const reader = (broken.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await endExportingSessions(service.pool);
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow();

  // Both connections are free again.
  const tables = await Promise.all([1, 2].map(() => csv('?type=bulk')));
  expect(tables.map(rows => rows.length)).toEqual([60_000, 60_000]);
});

test('a client that leaves before the first byte frees its connection too', async () => {
  const blocker = await service.pool.connect();
  // LOCK TABLE needs rights that nobody has on immutable rows, before PostgreSQL 17.
  await blocker.query('BEGIN; ALTER TABLE packets ADD COLUMN locked boolean');
  const leave = new AbortController();
  const answer = fetch(`${service.url}/packets.csv`, { signal: leave.signal });
  await eventually(exporting, count => count === 1);
  leave.abort();
  await expect(answer).rejects.toThrow();
  expect(await eventually(exporting, count => count === 0)).toBe(0);
  await blocker.query('ROLLBACK');
  blocker.release();
  expect((await csv('?columns=id&type=note')).length).toBeGreaterThan(0);
});

test('a table is sorted on request, across windows and equal times', async () => {
  const pool = openPool(service.connection, 'packet_service', 2);
  const hours = [3, 1, 2, 1, 3, 3, 2, 1];
  const { ids, geoid } = await ownLocation(
    hours.map((hour, n) => ({ observed_at: `2026-03-0${hour}T08:15:00Z`, message: String(n) })),
  );
  const expected = (sign: number) =>
    ids
      .map((id, n) => [id, hours[n] as number] as const)
      .sort(([a, first], [b, second]) => sign * (first - second || (a < b ? -1 : 1)))
      .map(([id]) => id);
  for (const order of ['asc', 'desc'] as const) {
    const rows = expected(order === 'asc' ? 1 : -1);
    expect((await csv(`?geoid=${geoid}&order=${order}`)).map(({ id }) => id)).toEqual(rows);
    for (const windowSize of [1, 2, 3, 5]) {
      const pieces = await exportTable({ exports: pool, pool }, { geoid }, names => csvWriter(names, false), {
        windowSize,
        columns: [],
        order,
      });
      const text = Buffer.concat(await pieces.toArray()).toString();
      const found = text
        .split('\r\n')
        .slice(1, -1)
        .map(line => line.split(',')[0]);
      expect(found, `${order}, ${windowSize}`).toEqual(rows);
    }
  }
  await pool.end();
});

test('both passes, and all windows of a distributed database, see one snapshot', async () => {
  const pool = openPool(service.connection, 'packet_service', 2);
  const filter = { type: 'bulk' };
  const read = async (windowSize: number | undefined, meanwhile: () => Promise<unknown>) => {
    const pieces = await exportTable({ exports: pool, pool }, filter, names => csvWriter(names, false), {
      windowSize,
    });
    let text = '';
    for await (const piece of pieces) {
      if (text === '') await meanwhile();
      text += piece;
    }
    return text.split('\r\n').sort();
  };
  const whole = await read(undefined, async () => {});
  const late = () =>
    service.pool.query(
      `INSERT INTO packets (id, geoid, ts, type, header, body, footer) SELECT gen_random_uuid(), geoid, '2027-01-01', type,
         header, '{"late":1}', footer FROM packets WHERE type = 'bulk' LIMIT 1`,
    );
  expect(await read(5000, late)).toEqual(whole);
  const after = await read(5000, async () => {});
  expect(after.length).toBe(whole.length + 1);
  expect(after.join()).toContain('filler,late');
  await pool.end();
});
