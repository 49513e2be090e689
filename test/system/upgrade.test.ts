import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migratePacketService } from '../../src/packet-service/app.ts';
import { verifyDatabase } from '../../src/packet-service/maintenance/verify/verify.ts';
import type { Connection } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openFileStore } from '../../src/platform/files/index.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';
import { migrateTraceBackend } from '../../src/trace-backend/app.ts';
import { upload } from '../helpers/attachments.ts';
import { fieldtrace } from '../helpers/backup.ts';
import { rowsOf } from '../helpers/catalogue.ts';
import { administer, asService, dropDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { jsonLines } from '../helpers/guide.ts';
import { runToEnd, startProcess } from '../helpers/process.ts';
import { type Change, lackingLast, NAMES, SERVICES, turnBack } from '../helpers/replaced.ts';
import { type RunningService, runningService } from '../helpers/service.ts';
import { ADMIN, type RunningTrace, runningTrace } from '../helpers/trace.ts';
import { bearer, JWT_SECRET, secretToken } from '../helpers/user-registry.ts';

const BASELINE = '100-baseline.sql';
const { template: _, ...server } = inject('databaseServer');
/** Made by the migrations of v0.1.0, with rows in many tables. */
const original = `upgrade_${process.pid}`;
const databases = [original];
let files: Awaited<ReturnType<typeof temporaryFolder>>;
let ids: Awaited<ReturnType<typeof story>>;

beforeAll(async () => {
  files = await temporaryFolder();
  const connection = { ...server, database: original };
  await administer(server, `CREATE DATABASE ${original}`);
  await migrateBoth(connection);
  ids = await withServices(connection, story);
});
afterAll(async () => {
  for (const name of databases) await dropDatabase(server, name);
  await files.remove();
});

const seen = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: -1.95, lon: 30.06 } };

/** Actions of users of both services before the upgrade. */
async function story(packets: RunningService, trace: RunningTrace) {
  // biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
  const make = async (where: string, body: object): Promise<any> => {
    const answer = await packets.send('POST', where, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const { thread_id } = await make('/chat/threads', { name: 'Rust', created_by: 'ana' });
  const said = { thread_id, text: 'Rost an Blättern', from_user: 'ana', geoids: ['g', 'h'] };
  const file = (await upload(packets, 'leaf')).body.attachment_id;
  const observation = (await make('/intake/scouting', { ...seen, attachments: [file] })).packet_uuid;
  const message = (await make('/intake/chat-message', said)).packet_uuid;
  await packets.send('PUT', '/directory/users/ben', { contacts: ['ben@example.org'], discoverable: true });
  await make('/shares', { packet_id: observation, from_user: 'ana', contact_value: 'ben@example.org' });

  const admin = await trace.login(ADMIN.username, ADMIN.password);
  const company = await admin.send('POST', '/api/company/create', { name: 'Umucyo' });
  expect(company.status, company.text).toBe(200);
  const body = { name: 'Ikawa', company: { id: company.body.data.id } };
  const product = await admin.send('POST', '/api/product/create', body);
  expect(product.status, product.text).toBe(200);
  await eventually(async () => (await packets.send('GET', '/sync/packets')).body.packets.length === 2);
  const text = async (id: string) => (await packets.send('GET', `/packets/${id}`)).text;
  return {
    thread_id,
    packets: new Map([
      [observation, await text(observation)],
      [message, await text(message)],
    ]),
    company: company.body.data.id,
    product: product.body.data.id,
  };
}

async function withServices<Result>(
  connection: Connection,
  work: (packets: RunningService, trace: RunningTrace) => Promise<Result>,
): Promise<Result> {
  const environment = { DATA_DIR: files.folder };
  const packets = await runningService(environment, { connection });
  const trace = await runningTrace(environment, { connection });
  try {
    return await work(packets, trace);
  } finally {
    await trace.stop();
    await packets.stop();
  }
}

/** A database as v0.1.0 left it, or with other records of its migrations. */
async function databaseBefore(change?: Change): Promise<Connection> {
  const connection = { ...server, database: `${original}_${databases.length}` };
  databases.push(connection.database);
  await administer(server, `CREATE DATABASE ${connection.database} TEMPLATE ${original}`);
  await administer(
    server,
    `GRANT CREATE ON DATABASE ${connection.database} TO ${inject('serviceRole').user}`,
  );
  await turnBack(connection, change, asService(connection));
  return connection;
}

/** Brings both services up to date, or as far as the migrations that `only` names. */
async function migrateBoth(connection: Connection, only?: readonly string[]): Promise<string[][]> {
  if (!only)
    return [
      await migratePacketService(asService(connection), connection),
      await migrateTraceBackend(asService(connection), connection),
    ];
  const names: string[][] = [];
  for (const { schema, folder } of SERVICES)
    names.push(await migrate(connection, schema, folder, { only, service: asService(connection) }));
  return names;
}

/** Both addresses, as a service and its operator have them. */
function settingsOf(connection: Connection): Record<string, string> {
  const url = ({ host, port, user, password, database }: Connection) =>
    `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host as string)}&port=${port}`;
  return {
    DATABASE_URL: url(asService(connection)),
    DATABASE_OWNER_URL: url(connection),
    DATA_DIR: files.folder,
  };
}

async function withClient<Result>(
  connection: Connection,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(connection);
  await client.connect();
  return work(client).finally(() => client.end());
}

/** The rows of both services, and the records of their migrations. */
async function contentsOf(connection: Connection) {
  const lines = await withClient(connection, client => rowsOf(client, {}));
  const kept = lines.filter(line => /^(packet_service|trace_backend)\./.test(line));
  const isRecord = (line: string) => /^\w+\.migrations /.test(line);
  return { rows: kept.filter(line => !isRecord(line)), records: kept.filter(isRecord) };
}

const recorded = (connection: Connection) =>
  withClient(connection, async client => {
    const { rows } = await client.query(
      'SELECT name FROM packet_service.migrations UNION ALL SELECT name FROM trace_backend.migrations',
    );
    return rows.map(({ name }) => name);
  });

test('the migration records of v0.1.0 become that of the baseline, and everything else stays unchanged', async () => {
  const connection = await databaseBefore();
  const { rows } = await contentsOf(connection);
  expect(rows.length).toBeGreaterThan(30);
  expect(await migrateBoth(connection, [BASELINE])).toEqual([[BASELINE], [BASELINE]]);
  expect((await contentsOf(connection)).rows).toEqual(rows);
  expect(await recorded(connection)).toEqual([BASELINE, BASELINE]);
  expect(await migrateBoth(connection)).toEqual(NAMES.map(names => names.slice(1)));
  expect(await migrateBoth(connection)).toEqual([[], []]);

  await withServices(connection, async (packets, trace) => {
    for (const [id, text] of ids.packets) {
      expect((await packets.send('GET', `/packets/${id}`)).text).toBe(text);
    }
    const messages = await packets.send('GET', `/chat/threads/${ids.thread_id}/messages`);
    expect(messages.body.messages).toHaveLength(1);
    const query = { user_id: 'ana', keyword: 'BLÄTT' };
    expect((await packets.send('POST', '/chat/query', query)).body.results).toHaveLength(1);
    expect((await packets.send('POST', '/intake/scouting', seen)).status).toBe(201);
    const admin = await trace.login(ADMIN.username, ADMIN.password);
    const company = await admin.send('GET', `/api/company/profile/${ids.company}`);
    expect(company.body.data.name).toBe('Umucyo');
    expect((await admin.send('GET', `/api/product/${ids.product}`)).body.data.name).toBe('Ikawa');
    expect((await admin.send('POST', '/api/company/create', { name: 'Another' })).status).toBe(200);
  });
  const mismatches: unknown[] = [];
  const counts = await verifyDatabase({
    connection,
    files: openFileStore(readSettings({ DATA_DIR: files.folder })),
    threads: 1,
    onMismatch: mismatch => mismatches.push(mismatch),
  });
  expect(mismatches).toEqual([]);
  expect(counts).toMatchObject({ packets: 3, messages: 1 });
});

test('a command closes threads from before 1.0 to requests without a token, and later ones stay open', async () => {
  const connection = await databaseBefore();
  const settings: Record<string, string> = {
    ...settingsOf(connection),
    USER_REGISTRY_JWT_SECRET: JWT_SECRET,
  };
  const [message = ''] = [...ids.packets.keys()].slice(1);
  const read = async (packets: RunningService, thread: string, headers = {}) =>
    (await packets.send('GET', `/chat/threads/${thread}/messages`, undefined, headers)).status;
  const ana = bearer(await secretToken('ana'));
  await migrateBoth(connection);
  const before = await runningService(settings, { connection });
  expect(await read(before, ids.thread_id)).toBe(200);
  const begun = await before.send('POST', '/chat/threads', { name: 'Later', created_by: 'ben' });
  const later = begun.body.thread_id;

  const wrong = await fieldtrace(settings, 'threads', 'close', '--before', '2.0');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--before must be 1.0, or a time')]);
  const { DATABASE_OWNER_URL: _owner, ...service } = settings;
  const refused = await fieldtrace(service, 'threads', 'close', '--before', '1.0');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('set DATABASE_OWNER_URL')]);
  let meanwhile = '';
  for (const [count, step] of [
    ['1 thread', 'begin'],
    ['1 thread', 'again'],
    ['0 threads', 'done'],
  ]) {
    // A service that runs remembers the thread as open until it is restarted.
    if (step === 'again') {
      const text = { thread_id: ids.thread_id, text: 'written meanwhile' };
      const written = await before.send('POST', '/intake/chat-message', text, ana);
      expect(written.status, written.text).toBe(201);
      meanwhile = written.body.packet_uuid;
      await before.stop();
    }
    const closed = await fieldtrace(settings, 'threads', 'close', '--before', '1.0');
    expect([closed.code, closed.out], closed.err).toEqual([
      0,
      expect.stringMatching(new RegExp(`^closed ${count} started before 2.* without a token`)),
    ]);
  }

  const after = await runningService(settings, { connection });
  try {
    expect(await read(after, ids.thread_id)).toBe(401);
    expect((await after.send('GET', `/packets/${message}`)).status).toBe(401);
    expect((await after.send('GET', `/packets/${meanwhile}`)).status).toBe(401);
    const listed = async (headers = {}) =>
      (await after.send('GET', '/packets', undefined, headers)).body.packets.length;
    expect(await listed()).toBe(1);
    expect(
      (await after.send('POST', '/chat/query', { user_id: 'ben', keyword: 'BLÄTT' })).body.results,
    ).toEqual([]);
    expect(await read(after, later)).toBe(200);
    expect(await read(after, ids.thread_id, ana)).toBe(200);
    expect((await after.send('GET', `/packets/${message}`, undefined, ana)).status).toBe(200);
    expect(await listed(ana)).toBe(3);
  } finally {
    await after.stop();
  }
  const granted = `SELECT grantee FROM information_schema.column_privileges
    WHERE column_name = 'closed' AND privilege_type = 'UPDATE'`;
  expect((await withClient(connection, client => client.query(granted))).rows).toEqual([]);
});

test('processes that start at once replace the records once, and log one line for each service', async () => {
  const connection = await databaseBefore();
  const both = await Promise.all([1, 2].map(() => startProcess(settingsOf(connection))));
  for (const service of both) {
    expect((await service.send('POST', '/intake/scouting', seen)).status).toBe(201);
    service.child.kill('SIGTERM');
    expect(await service.ended, service.output()).toBe(0);
  }
  expect(await recorded(connection)).toEqual(NAMES.flat());
  const lines = both.flatMap(service => jsonLines(service.log()) as Record<string, unknown>[]);
  const migrated = lines.filter(({ msg }) => msg === 'migrated');
  expect(migrated.map(({ service, migrations }) => [service, migrations]).sort()).toEqual([
    ['packet-service', NAMES[0]],
    ['trace-backend', NAMES[1]],
  ]);
});

test('the records are replaced in one transaction', async () => {
  const connection = await databaseBefore();
  const before = await contentsOf(connection);
  await withClient(connection, client =>
    client.query('ALTER TABLE packet_service.migrations ADD CONSTRAINT full_disk CHECK (number < 100)'),
  );
  await expect(migrateBoth(connection)).rejects.toMatchObject({ code: '23514' });
  expect(await contentsOf(connection)).toEqual(before);
});

test('the role of the services cannot replace the records, and says who can', async () => {
  const connection = await databaseBefore();
  const before = await contentsOf(connection);
  for (const { schema, folder } of SERVICES) {
    await expect(migrate(asService(connection), schema, folder)).rejects.toThrow(
      /lacks 100-baseline\.sql.*, and the role of DATABASE_URL does not own its tables: set DATABASE_OWNER_URL/,
    );
  }
  expect(await contentsOf(connection)).toEqual(before);
});

const OLDER =
  /the database is older than fieldtrace v0\.1\.0 .* and was left unchanged; start v0\.1\.0 on it once \(git checkout v0\.1\.0, then npm start\), then this version/;
const NEWER =
  /^fieldtrace(?: cannot start)?: the database has migration 999-future\.sql of a newer fieldtrace; [^\n]*\n$/;
const last = { number: 999, name: '999-future.sql', checksum: 'x' };

test.each<[database: string, change: Change, sentence: RegExp]>([
  ['whose packet service is older', lackingLast('packet_service'), OLDER],
  ['whose trace backend is older', lackingLast('trace_backend'), OLDER],
  ['that is much older', records => records.slice(0, 3), OLDER],
  ['that lacks a migration in between', records => records.toSpliced(4, 1), OLDER],
  [
    'with another text of a migration',
    records => records.with(2, { ...records[2], checksum: 'x' } as (typeof records)[0]),
    /migration 003-\w+\.sql, with another text than in fieldtrace v0\.1\.0, and was left unchanged/,
  ],
  [
    'with a migration of another branch',
    records => [...records, { number: 90, name: '090-branch.sql', checksum: 'x' }],
    /migration 090-branch\.sql, which is not in fieldtrace v0\.1\.0, and was left unchanged/,
  ],
  [
    'with both lists',
    (records, { records: present }) => [...records, ...present],
    /migration 100-baseline\.sql, which is not in fieldtrace v0\.1\.0, and was left unchanged/,
  ],
  [
    'that is newer',
    (_records, { records: present }) => [...present, last],
    /the database has migration 999-future\.sql of a newer fieldtrace/,
  ],
  [
    'whose baseline has another text',
    (_records, { records: present }) => present.map(record => ({ ...record, checksum: 'x' })),
    /migration 100-baseline\.sql was edited after it ran in this database/,
  ],
])(
  'a database %s is refused, and neither service changes anything in it',
  async (_title, change, sentence) => {
    const connection = await databaseBefore(change);
    await withClient(connection, client =>
      client.query('DROP SCHEMA packet_service_jobs, trace_backend_jobs CASCADE'),
    );
    const schemas = () =>
      withClient(connection, async client => (await client.query('SELECT nspname FROM pg_namespace')).rows);
    const before = [await contentsOf(connection), await schemas()];
    const { code, output } = await runToEnd(settingsOf(connection));
    expect([code, output]).toEqual([1, expect.stringMatching(/^fieldtrace cannot start: /m)]);
    expect(output).toMatch(sentence);
    expect([await contentsOf(connection), await schemas()]).toEqual(before);
  },
);

test('a newer database is refused with its sentence, whichever roles the services have', async () => {
  const connection = await databaseBefore();
  await migrateBoth(connection);
  const insert = (schema: string) =>
    `INSERT INTO ${schema}.migrations (number, name, checksum) VALUES (999, '999-future.sql', 'x')`;
  for (const { schema } of SERVICES) {
    await withClient(connection, client => client.query(insert(schema)));
    const {
      DATABASE_URL = '',
      DATABASE_OWNER_URL = '',
      DATA_DIR = '',
    }: Record<string, string> = settingsOf(connection);
    const choices: Record<string, string>[] = [
      { DATABASE_URL, DATABASE_OWNER_URL },
      { DATABASE_URL },
      { DATABASE_URL: DATABASE_OWNER_URL },
    ];
    for (const roles of choices) {
      const before = await contentsOf(connection);
      const { code, output } = await runToEnd({ DATA_DIR, LOG_LEVEL: 'silent', ...roles });
      expect([code, output]).toEqual([1, expect.stringMatching(NEWER)]);
      expect(await contentsOf(connection)).toEqual(before);
      for (const words of [['migrate'], ['verify']]) {
        const refused = await fieldtrace({ DATA_DIR, ...roles }, ...words);
        expect([refused.code, refused.err], words.join(' ')).toEqual([1, expect.stringMatching(NEWER)]);
      }
    }
    await withClient(connection, client =>
      client.query(`DELETE FROM ${schema}.migrations WHERE number = 999`),
    );
  }
});

test('workers and commands refuse an older database with the same sentence', async () => {
  const connection = await databaseBefore(lackingLast('packet_service'));
  const before = await contentsOf(connection);
  const { code, output } = await runToEnd({ ...settingsOf(connection), WORKERS: '2' });
  expect([code, output]).toEqual([1, expect.stringMatching(OLDER)]);
  for (const words of [['migrate'], ['verify'], ['audit'], ['user', 'unlock', 'ana@example.org']]) {
    const refused = await fieldtrace(settingsOf(connection), ...words);
    expect([refused.code, refused.err], words.join(' ')).toEqual([1, expect.stringMatching(OLDER)]);
  }
  expect(await contentsOf(connection)).toEqual(before);
});
