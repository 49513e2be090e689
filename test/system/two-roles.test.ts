import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyDatabase } from '../../src/packet-service/maintenance/verify/verify.ts';
import type { Connection } from '../../src/platform/database/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded-postgres/index.ts';
import { openFileStore } from '../../src/platform/files/index.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';
import { fieldtrace } from '../helpers/backup.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type RunningProcess, runToEnd, startProcess } from '../helpers/process.ts';
import { turnBack } from '../helpers/replaced.ts';

const FILE = path.resolve(import.meta.dirname, '../../src/platform/database/roles/two-roles.sql');
const TRACE_ADMIN = {
  TRACE_ADMIN_EMAIL: 'admin@example.org',
  TRACE_ADMIN_PASSWORD: 'an administrator',
};
/** Rows that nobody may change, by their tables. */
const KEPT = [
  ...[
    'packets',
    'packet_geoids',
    'packet_attachments',
    'packet_log',
    'chat_messages',
    'attachment_claims',
  ].map(name => `packet_service.${name}`),
  ...['audit', 'product_changes'].map(name => `trace_backend.${name}`),
];

let folder: string;
let remove: () => Promise<void>;
let server: EmbeddedPostgres;
beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  server = await startEmbeddedPostgres({ dataDir: folder, logger: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await server.stop();
  await remove();
});

/** The superuser's way into a database of the server. */
function superuser(database: string): Connection {
  const password = server.backup.passwords()['superuser-password'] as string;
  return { ...server.owner, user: 'fieldtrace_superuser', password, database };
}

async function run(connection: Connection, ...statements: string[]) {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Actions of users that leave rows in every append-only table. */
async function use({ send, traceUrl }: RunningProcess): Promise<string> {
  const make = async (where: string, body: object) => {
    const answer = await send('POST', where, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const { thread_id } = await make('/chat/threads', { name: 'Rust', created_by: 'ana' });
  const attachments = ['att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2'];
  const said = { thread_id, text: 'Zaunkönig', from_user: 'ana', geoids: ['g', 'h'], attachments };
  const { packet_uuid } = await make('/intake/chat-message', said);
  const login = { username: TRACE_ADMIN.TRACE_ADMIN_EMAIL, password: TRACE_ADMIN.TRACE_ADMIN_PASSWORD };
  const answer = await fetch(`${traceUrl}/api/user/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(login),
  });
  expect(answer.status).toBe(200);
  const product = await fetch(`${traceUrl}/api/product/create`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie: answer.headers.getSetCookie().join('; '),
    },
    body: JSON.stringify({ name: 'Ikawa' }),
  });
  expect(product.status).toBe(200);
  return packet_uuid;
}

async function rowsOf(connection: Connection): Promise<unknown[]> {
  return Promise.all(KEPT.map(table => run(connection, `SELECT r::text FROM ${table} AS r ORDER BY 1`)));
}

/** Statements by which somebody who speaks for the services would try to change what is kept. */
function attempts(role: string, owner: string): string[] {
  const [service, other] = [pg.escapeIdentifier(role), pg.escapeIdentifier(owner)];
  return [
    ...[...KEPT, 'packet_service.audit'].flatMap(table => [
      `DELETE FROM ${table}`,
      `TRUNCATE ${table} CASCADE`,
      `DROP TABLE ${table} CASCADE`,
      `ALTER TABLE ${table} OWNER TO ${service}`,
      `ALTER TABLE ${table} ADD COLUMN mine int`,
      `CREATE TRIGGER mine BEFORE INSERT ON ${table} EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
      `CREATE RULE mine AS ON INSERT TO ${table} DO INSTEAD NOTHING`,
    ]),
    `UPDATE packet_service.packets SET body = '{}'`,
    `UPDATE packet_service.packets SET author = 'me'`,
    'UPDATE packet_service.packet_log SET details = NULL',
    `UPDATE packet_service.chat_messages SET text = 'else'`,
    `UPDATE trace_backend.audit SET details = '{}'`,
    'SELECT FROM packet_service.packets FOR UPDATE',
    `INSERT INTO packet_service.erasures VALUES (gen_random_uuid(), now(), 'mine')`,
    'DELETE FROM packet_service.erasures',
    `UPDATE packet_service.migrations SET checksum = ''`,
    `SELECT setval('trace_backend.audit_id_seq', 1)`,
    `SET ROLE ${other}`,
    `SET SESSION AUTHORIZATION ${other}`,
    `GRANT ${other} TO ${service}`,
    `ALTER ROLE ${service} SUPERUSER`,
    `ALTER ROLE ${service} CREATEROLE`,
    `ALTER ROLE ${other} PASSWORD 'mine'`,
    `CREATE ROLE mine`,
    `REASSIGN OWNED BY ${other} TO ${service}`,
    'DROP SCHEMA packet_service CASCADE',
    `ALTER SCHEMA packet_service OWNER TO ${service}`,
    'CREATE TABLE packet_service.mine ()',
    'CREATE TABLE public.mine ()',
    'CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql RETURN 1',
    `CREATE OR REPLACE FUNCTION packet_service.merge_messages() RETURNS bigint LANGUAGE sql RETURN 1::bigint`,
    `ALTER FUNCTION packet_service.merge_messages() RESET search_path`,
    `SELECT gin_clean_pending_list('packet_service.chat_messages_by_piece')`,
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = mine', current_database()); END $$`,
    `COPY packet_service.packets TO PROGRAM 'cat'`,
    `CREATE EXTENSION dblink`,
  ];
}

/** Tries everything as the role of the services; gives what was not refused. */
async function notRefused(connection: Connection, role: string, owner: string): Promise<string[]> {
  const done: string[] = [];
  for (const statement of attempts(role, owner)) {
    // Somebody without any right to pass on is warned, and has no error.
    const grant = `GRANT ALL ON ALL TABLES IN SCHEMA packet_service, trace_backend TO ${pg.escapeIdentifier(role)}`;
    const refusal = await run(connection, grant, statement).then(
      () => undefined,
      ({ code }) => code,
    );
    // Insufficient privilege, invalid grant operation, feature not supported (an extension that is not there).
    if (!['42501', '0LP01', '0A000'].includes(refusal)) done.push(`${statement}: ${refusal}`);
  }
  return done;
}

async function mismatches(connection: Connection): Promise<unknown[]> {
  const found: unknown[] = [];
  const files = openFileStore(readSettings({ DATA_DIR: folder }));
  await verifyDatabase({ connection, files, threads: 1, onMismatch: fault => found.push(fault) });
  return found;
}

test('a DATA_DIR whose services owned everything gets an owner, and the services cannot change permanent records', {
  timeout: 360_000,
}, async () => {
  const settings = { DATA_DIR: folder, ...TRACE_ADMIN };
  const before = await startProcess(settings);
  const first = await use(before);
  await eventually(
    async () => (await run(server.owner, 'SELECT FROM packet_service.packet_log')).length === 1,
  );
  before.child.kill('SIGTERM');
  await before.ended;
  await server.stop();
  server = await startEmbeddedPostgres({ dataDir: folder, logger: pino({ level: 'silent' }) });
  const jobs = ['packet_service_jobs', 'trace_backend_jobs'];
  await run(
    superuser('fieldtrace'),
    'REASSIGN OWNED BY fieldtrace_owner TO fieldtrace',
    'ALTER ROLE fieldtrace CREATEDB',
    'REVOKE fieldtrace FROM fieldtrace_owner',
    'ALTER DATABASE fieldtrace OWNER TO fieldtrace',
    'REVOKE ALL ON DATABASE fieldtrace FROM fieldtrace',
    'DROP OWNED BY fieldtrace_owner',
    'DROP ROLE fieldtrace_owner',
  );
  await rm(path.join(folder, 'postgres/owner-password'));
  const rows = await rowsOf(superuser('fieldtrace'));
  expect(rows.filter(found => (found as unknown[]).length === 0)).toEqual([]);
  await server.stop();

  server = await startEmbeddedPostgres({ dataDir: folder, logger: pino({ level: 'silent' }) });
  const service = await startProcess(settings);
  try {
    expect(service.log()).not.toContain('role of the services owns');
    const owners = `SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class
      JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = ANY ('{%}') AND relkind IN ('r', 'p', 'S')`;
    const ownersIn = (schemas: string[]) => run(server.owner, owners.replace('%', schemas.join()));
    expect(await ownersIn(['packet_service', 'trace_backend'])).toEqual([{ owner: 'fieldtrace_owner' }]);
    expect(await ownersIn(jobs)).toEqual([{ owner: 'fieldtrace' }]);
    expect(await notRefused(server.connection, 'fieldtrace', 'fieldtrace_owner')).toEqual([]);
    expect(await rowsOf(server.owner)).toEqual(rows);

    const second = await use(service);
    await eventually(
      async () => (await run(server.owner, 'SELECT FROM packet_service.packet_log')).length === 2,
    );
    const erased = await fieldtrace(settings, 'erase', 'packet', first, '--reason', 'asked for by mail');
    expect(erased).toMatchObject({ code: 0, out: expect.stringContaining('erased packet') });
    expect((await service.send('GET', `/packets/${first}`)).status).toBe(410);
    expect((await service.send('GET', `/packets/${second}`)).status).toBe(200);
    expect(await mismatches(server.connection)).toEqual([]);
    expect(await notRefused(server.connection, 'fieldtrace', 'fieldtrace_owner')).toEqual([]);
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
});

test("the owner's password is replaced when its file is gone, as after a restore of an older base backup", async () => {
  await server.stop();
  await rm(path.join(folder, 'postgres/owner-password'));
  server = await startEmbeddedPostgres({ dataDir: folder, logger: pino({ level: 'silent' }) });
  expect(await run(server.owner, 'SELECT current_user AS role')).toEqual([{ role: 'fieldtrace_owner' }]);
});

test("the function that merges the index ignores its caller's search_path", async () => {
  const rows = await run(
    server.connection,
    'CREATE SCHEMA mine',
    'CREATE TABLE mine.callers (name text)',
    'GRANT ALL ON SCHEMA mine TO PUBLIC',
    'GRANT ALL ON mine.callers TO PUBLIC',
    `CREATE FUNCTION mine.gin_clean_pending_list(regclass) RETURNS bigint LANGUAGE plpgsql AS
     $$ BEGIN INSERT INTO mine.callers VALUES (current_user); RETURN 1; END $$`,
    'CREATE TEMPORARY TABLE chat_messages_by_piece ()',
    'SET search_path = mine, pg_temp, pg_catalog, packet_service',
    'SELECT packet_service.merge_messages()',
    'SELECT name FROM mine.callers',
  );
  expect(rows).toEqual([]);
  await run(server.connection, 'DROP SCHEMA mine CASCADE');
});

// On a server of the operator's own.
const service = 'field-service';
const owner = 'field-owner';
const database = 'own';
const as = (role: string) => ({ ...server.owner, user: role, password: 'a password', database });
const urlOf = (role: string) => {
  const { host, port } = server.owner;
  return `postgres://${role}:a%20password@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
};
const settings = () => ({
  DATABASE_URL: urlOf(service),
  DATA_DIR: path.join(folder, 'own'),
  ...TRACE_ADMIN,
});
const divide = async () =>
  run(
    superuser(database),
    `SET fieldtrace.owner = '${owner}'`,
    `SET fieldtrace.service = '${service}'`,
    await readFile(FILE, 'utf8'),
  );
const WARNING = /role of the services owns their tables/g;

test("on an operator's server, a single role causes one warning, the SQL file makes two roles of it, and the owner migrates", {
  timeout: 360_000,
}, async () => {
  await run(
    superuser('postgres'),
    `CREATE ROLE "${service}" LOGIN PASSWORD 'a password'`,
    `CREATE ROLE "${owner}" LOGIN PASSWORD 'a password'`,
    `CREATE DATABASE ${database} OWNER "${service}"`,
  );
  const first = await startProcess(settings());
  const id = await use(first);
  expect(first.log().match(WARNING)).toHaveLength(1);
  first.child.kill('SIGTERM');
  await first.ended;
  const both = { ...settings(), DATABASE_OWNER_URL: urlOf(owner) };
  const early = await runToEnd(both);
  expect([early.code, early.output]).toEqual([1, expect.stringContaining('run two-roles.sql')]);

  await divide();
  await divide();
  expect(await notRefused(as(service), service, owner)).toEqual([]);
  // The password of the owner is needed for migrations alone.
  const second = await startProcess(settings());
  expect(second.log()).not.toMatch(WARNING);
  expect((await second.send('GET', `/packets/${id}`)).status).toBe(200);
  await use(second);
  second.child.kill('SIGTERM');
  await second.ended;

  await turnBack(as(owner), undefined, as(service));
  // As a migration leaves a new function: without rights for the role of the services.
  await run(as(owner), `REVOKE ALL ON FUNCTION packet_service.merge_messages() FROM "${service}"`);
  const alone = await runToEnd(settings());
  expect([alone.code, alone.output]).toEqual([
    1,
    expect.stringMatching(/lacks 100-baseline\.sql.*DATABASE_OWNER_URL/),
  ]);
  const migrated = await fieldtrace(both, 'migrate');
  expect(migrated).toMatchObject({ code: 0, out: expect.stringContaining('100-baseline.sql') });
  await run(as(service), 'SELECT packet_service.merge_messages()');
  expect(await notRefused(as(service), service, owner)).toEqual([]);

  const erase = ['erase', 'packet', id, '--reason', 'asked for by mail'];
  const refused = await fieldtrace(settings(), ...erase);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('set DATABASE_OWNER_URL')]);
  expect(await fieldtrace(both, ...erase)).toMatchObject({ code: 0 });
  expect(await mismatches(as(service))).toEqual([]);
});

test("the SQL file refuses a services' role that can grant itself the owner's rights", async () => {
  const change = (statement: string) => run(superuser(database), statement);
  await change(`REVOKE "${service}" FROM "${owner}"`);
  await change(`GRANT "${owner}" TO "${service}"`);
  await expect(divide()).rejects.toThrow(/must not be/);
  await change(`REVOKE "${owner}" FROM "${service}"`);
  await change(`ALTER ROLE "${service}" CREATEROLE`);
  await expect(divide()).rejects.toThrow(/CREATEROLE/);
  await change(`ALTER ROLE "${service}" NOCREATEROLE SUPERUSER`);
  await expect(divide()).rejects.toThrow(/superuser/);
  await change(`ALTER ROLE "${service}" NOSUPERUSER`);
  await divide();
});

test('an owner of another database, and one without a database, are refused', async () => {
  const refused = await runToEnd({
    ...settings(),
    DATABASE_OWNER_URL: urlOf(owner).replace('/own?', '/postgres?'),
  });
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('the same database')]);
  const none = await runToEnd({ DATA_DIR: path.join(folder, 'own'), DATABASE_OWNER_URL: urlOf(owner) });
  expect([none.code, none.output]).toEqual([1, expect.stringContaining('needs DATABASE_URL')]);
});
