import { readdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
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
import { administer, asService, dropDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type RunningService, runningService } from '../helpers/service.ts';
import { ADMIN, type RunningTrace, runningTrace } from '../helpers/trace.ts';

type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

const ROOT = path.resolve(import.meta.dirname, '../..');
const SERVICES = [
  { schema: 'packet_service', migrations: 'src/packet-service/migrations' },
  { schema: 'trace_backend', migrations: 'src/trace-backend/migrations' },
].map(({ schema, migrations }) => {
  const folder = path.join(ROOT, migrations);
  return { schema, folder, names: readdirSync(folder).sort() };
});
/** Numbers of migrations that there were at some time, in either service. */
const LEVELS = Array.from(
  { length: Math.max(...SERVICES.map(({ names }) => names.length)) },
  (_, n) => n + 1,
);

const { template: _, ...server } = inject('databaseServer');
/** A database that climbs from level to level, without rows; each level's own is a copy of it. */
const ladder = `ladder_${process.pid}`;
const databases = [ladder];
let reached: Folder[];

/** Today's services, from whose rows the databases of earlier levels are filled. */
let files: Folder;
let packets: RunningService;
let trace: RunningTrace;
let ids: Awaited<ReturnType<typeof story>>;

beforeAll(async () => {
  files = await temporaryFolder();
  reached = await Promise.all(SERVICES.map(() => temporaryFolder()));
  packets = await runningService({ DATA_DIR: files.folder });
  trace = await runningTrace({ DATA_DIR: files.folder });
  ids = await story();
  await administer(server, `CREATE DATABASE ${ladder}`);
});
afterAll(async () => {
  await trace.stop();
  await packets.stop();
  for (const name of databases) await dropDatabase(server, name);
  for (const { remove } of [files, ...reached]) await remove();
});

const seen = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: -1.95, lon: 30.06 } };

/** What users of both services do, before all upgrades. */
async function story() {
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
  const product = await admin.send('POST', '/api/product/create', {
    name: 'Ikawa',
    company: { id: company.body.data.id },
  });
  expect(product.status, product.text).toBe(200);
  const logged = 'SELECT 1 FROM packet_log';
  await eventually(async () => (await packets.pool.query(logged)).rowCount === 3);
  return { thread_id, observation, message, company: company.body.data.id, product: product.body.data.id };
}

/** A database as it was when both services had so many migrations, with rows. */
async function databaseAt(level: number): Promise<Connection> {
  for (const [at, { schema, folder, names }] of SERVICES.entries()) {
    const known = reached[at]?.folder as string;
    const name = names[level - 1];
    if (name) await copyFile(path.join(folder, name), path.join(known, name));
    await migrate({ ...server, database: ladder }, schema, pathToFileURL(`${known}/`));
  }
  const connection = { ...server, database: `${ladder}_${level}` };
  databases.push(connection.database);
  await administer(server, `CREATE DATABASE ${connection.database} TEMPLATE ${ladder}`);
  await fill(packets.pool, connection, 'packet_service');
  await fill(trace.pool, connection, 'trace_backend');
  return connection;
}

const TABLES = `
  SELECT relname AS name, (
    SELECT array_agg(attname::text) FROM pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
  ) AS columns, ARRAY(
    SELECT confrelid::regclass::text FROM pg_constraint WHERE conrelid = c.oid AND confrelid NOT IN (0, c.oid)
  ) AS needs
  FROM pg_class AS c WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND relname <> 'migrations' ORDER BY oid`;
const IDENTITIES = `
  SELECT relname AS name, attname AS column FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
  WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND attidentity <> ''`;

/** Tables in which migrations put rows. */
const FILLED = new Set(['field_state', 'currency_types']);

interface Table {
  name: string;
  columns: string[];
  /** tables that its rows refer to */
  needs: string[];
}

/** Each table after those that its rows refer to. */
function inOrder(tables: readonly Table[]): Table[] {
  const sorted: Table[] = [];
  const add = (table: Table) => {
    if (sorted.includes(table)) return;
    for (const other of tables) if (table.needs.includes(other.name)) add(other);
    sorted.push(table);
  };
  tables.forEach(add);
  return sorted;
}

/** What earlier versions had in a table, where that is not today's rows without the columns of later versions. */
function rowsOf(table: string, there: Set<string>): string {
  const all = `SELECT to_jsonb(t) AS r FROM ${table} AS t`;
  // The columns were NOT NULL once.
  if (table === 'chat_messages') {
    return `SELECT to_jsonb(t) || jsonb_build_object('text', coalesce(text, folded)) AS r FROM chat_messages AS t`;
  }
  if (there.has('chat_messages')) return all;
  if (table === 'packets') return `${all} WHERE thread_id IS NULL`;
  if (table === 'packet_geoids') return `${all} JOIN packets ON id = packet_id WHERE thread_id IS NULL`;
  return all;
}

async function fill(from: pg.Pool, to: Connection, schema: string): Promise<void> {
  const client = new pg.Client(to);
  await client.connect();
  try {
    await client.query(`SET search_path = ${schema}`);
    const { rows: tables } = await client.query<Table>(TABLES, [schema]);
    const there = new Set(tables.map(({ name }) => name));
    for (const { name, columns } of inOrder(tables)) {
      const { rows } = await from.query(
        `SELECT jsonb_agg(r)::text AS all FROM (${rowsOf(name, there)}) AS rows`,
      );
      if (rows[0].all === null) continue;
      if (FILLED.has(name)) await client.query(`DELETE FROM ${name}`);
      await client.query(
        `INSERT INTO ${name} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
         SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::${name}, $1)`,
        [rows[0].all],
      );
    }
    const { rows: identities } = await client.query<{ name: string; column: string }>(IDENTITIES, [schema]);
    for (const { name, column } of identities) {
      const sequence = `pg_get_serial_sequence('${name}', '${column}')`;
      await client.query(`SELECT setval(${sequence}, max(${column})) FROM ${name} HAVING count(*) > 0`);
    }
  } finally {
    await client.end();
  }
}

test.each(LEVELS)('a database of %i migrations is brought up to date with everything in it', async level => {
  const connection = await databaseAt(level);
  await migratePacketService(asService(connection), connection);
  await migrateTraceBackend(asService(connection), connection);
  const environment = { DATA_DIR: files.folder };
  const [upgraded, upgradedTrace] = [
    await runningService(environment, { ...packets, connection }),
    await runningTrace(environment, { ...trace, connection }),
  ];
  try {
    const hasChat = level >= 3;
    const { thread_id, observation, message, company, product } = ids;
    for (const where of [
      `/packets/${observation}`,
      ...(hasChat ? [`/packets/${message}`, `/chat/threads/${thread_id}/messages`] : []),
    ]) {
      expect((await upgraded.send('GET', where)).text, where).toBe((await packets.send('GET', where)).text);
    }
    if (hasChat) {
      const { body } = await upgraded.send('POST', '/chat/query', { user_id: 'ana', keyword: 'BLÄTT' });
      expect(body.results).toHaveLength(1);
    }
    expect((await upgraded.send('POST', '/intake/scouting', seen)).status).toBe(201);

    const admin = await upgradedTrace.login(ADMIN.username, ADMIN.password);
    if (level >= 3)
      expect((await admin.send('GET', `/api/company/profile/${company}`)).body.data.name).toBe('Umucyo');
    if (level >= 4) expect((await admin.send('GET', `/api/product/${product}`)).body.data.name).toBe('Ikawa');
    const renamed = await admin.send('POST', '/api/company/create', { name: 'Another' });
    expect(renamed.status, renamed.text).toBe(200);

    const mismatches: unknown[] = [];
    const counts = await verifyDatabase({
      connection,
      files: openFileStore(readSettings(environment)),
      threads: 1,
      onMismatch: mismatch => mismatches.push(mismatch),
    });
    expect(mismatches).toEqual([]);
    expect(counts).toMatchObject(hasChat ? { packets: 3, messages: 1 } : { packets: 2, messages: 0 });
  } finally {
    await upgradedTrace.stop();
    await upgraded.stop();
  }
});
