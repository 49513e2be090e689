import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyDataDir } from '../helpers/data-dir.ts';
import { type TestDatabase, testDatabase } from '../helpers/database.ts';
import { testWith } from '../helpers/debian.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { jsonLines, runGuide } from '../helpers/guide.ts';
import { type RunningProcess, runToEnd, startProcess } from '../helpers/process.ts';
import { NAMES } from '../helpers/replaced.ts';

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
const testWithCurl = await testWith('curl');

let database: TestDatabase;
let databaseUrl: string;
beforeAll(async () => {
  database = await testDatabase();
  const { host, port, user, password, database: name } = database.connection;
  databaseUrl = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
});
afterAll(() => database.drop());

test('a secret shorter than 32 bytes causes a warning, and is not shown', async () => {
  const { output } = await runToEnd({
    DATABASE_URL: 'postgres://user@host.invalid/x',
    USER_REGISTRY_JWT_SECRET: 'sixteen letters.',
    WEBHOOK_SECRET: 'x'.repeat(31),
    SERVICE_TOKEN: 'x'.repeat(32),
  });
  const warned = [...output.matchAll(/(\w+) is shorter than 32 bytes/g)].map(([, name]) => name);
  expect(warned).toEqual(['USER_REGISTRY_JWT_SECRET', 'WEBHOOK_SECRET']);
  expect(output).not.toMatch(/sixteen|x{31}/);
});

test('a bad setting prevents the start and is named, and a secret is not shown', async () => {
  const wrong: [string, Record<string, string>][] = [
    ['PACKET_PORT', { PACKET_PORT: '80.5' }],
    ['AUTH_MODE', { AUTH_MODE: 'maybe' }],
    ['ASSET_REGISTRY_STRICT', { ASSET_REGISTRY_STRICT: 'yes' }],
    ['ASSET_REGISTRY_URL', { ASSET_REGISTRY_URL: 'ftp://x' }],
    ['DATABASE_URL', { DATABASE_URL: 'mysql://root:hunter2@x/y' }],
    ['USER_REGISTRY_JWT_SECRET', { USER_REGISTRY_JWT_SECRET: 'hunter2' }],
    ['AUTH_MODE', { AUTH_MODE: 'required', SERVICES: 'packet', DATABASE_URL: databaseUrl }],
    ['DATABASE_POOL', { DATABASE_POOL: '1' }],
    ['SERVICES', { SERVICES: 'packet,chat' }],
    ['TRACE_ADMIN_PASSWORD', { TRACE_ADMIN_EMAIL: 'ana@example.org', DATABASE_URL: databaseUrl }],
    ['TRACE_JWT_PRIVATE_KEY', { TRACE_JWT_PRIVATE_KEY: 'hunter2', DATABASE_URL: databaseUrl }],
  ];
  for (const [name, environment] of wrong) {
    const { code, output } = await runToEnd(environment);
    expect(code, output).toBe(1);
    expect(output).toMatch(new RegExp(`fieldtrace cannot start: .*${name}`));
    expect(output).not.toMatch(/hunter2|\n {4}at /);
  }
  const { output } = await runToEnd({ PACKET_PORT: 'x', LOG_LEVEL: 'loud' });
  expect(output).toMatch(/PACKET_PORT[\s\S]*LOG_LEVEL/);
});

test('a port in use and an unknown database host are errors of one sentence', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => other.once('listening', resolve));
  const { port } = other.address() as { port: number };
  // An embedded database would be made here: ports are looked at before.
  const DATA_DIR = path.join(tmpdir(), `fieldtrace-test-no-data-${randomUUID()}`);
  for (const setting of ['PACKET_PORT', 'TRACE_PORT', 'CONSOLE_PORT']) {
    for (const WORKERS of ['1', '2']) {
      const taken = await runToEnd({ DATA_DIR, WORKERS, [setting]: String(port), LOG_LEVEL: 'silent' });
      expect(taken).toEqual({
        code: 1,
        output: `fieldtrace cannot start: ${setting} ${port} on 127.0.0.1 is in use by another program. Stop it, or set ${setting}.\n`,
      });
    }
  }
  other.close();
  await once(other, 'close');
  const same = { PACKET_PORT: String(port), TRACE_PORT: String(port) };
  expect((await runToEnd({ DATA_DIR, ...same, LOG_LEVEL: 'silent' })).output).toBe(
    `fieldtrace cannot start: TRACE_PORT ${port} is also PACKET_PORT. Set one of them to another port.\n`,
  );
  const nowhere = await runToEnd({ DATA_DIR, HOST: 'nowhere.invalid', LOG_LEVEL: 'silent' });
  expect(nowhere.output).toMatch(
    /^fieldtrace cannot start: HOST nowhere\.invalid has no address \(E\w+\)\. /,
  );
  expect(existsSync(DATA_DIR)).toBe(false);

  const hosts = { DATABASE_URL: 'postgres://user@one.invalid,two.invalid/x' };
  const list = await runToEnd({ ...hosts, LOG_LEVEL: 'silent' });
  expect(list.output).toMatch(/^fieldtrace cannot start: DATABASE_URL: .*one\.invalid,two\.invalid.*\n$/);
});

test('a start warns loudly if anyone can reach the service, and not otherwise', async () => {
  const start = async (environment: Record<string, string>) => {
    const service = await startProcess({ DATABASE_URL: databaseUrl, ...environment });
    service.child.kill('SIGTERM');
    expect(await service.ended, service.output()).toBe(0);
    return service.output();
  };
  expect(await start({ HOST: '0.0.0.0' })).toContain('ANYONE WHO REACHES THIS ADDRESS');
  expect(await start({ HOST: '127.0.0.1' })).not.toContain('ANYONE');
  expect(await start({ HOST: '127.0.0.1', TRUST_PROXY: 'true' })).toContain('ANYONE WHO REACHES');
  const required = {
    HOST: '0.0.0.0',
    AUTH_MODE: 'required',
    USER_REGISTRY_JWT_SECRET: 'a secret of sixteen bytes',
  };
  expect(await start(required)).not.toContain('ANYONE');
});

test('processes that start together on a new database migrate it once and both serve; each service logs one line', async () => {
  await database.pool.query('DROP SCHEMA packet_service, trace_backend CASCADE');
  const both = await Promise.all([1, 2].map(() => startProcess({ DATABASE_URL: databaseUrl })));
  for (const service of both) {
    expect((await service.send('POST', '/intake/scouting', observation)).status).toBe(201);
  }
  const lines = both.flatMap(service => jsonLines(service.log()) as Record<string, unknown>[]);
  const migrated = lines.filter(({ msg }) => msg === 'migrated');
  expect(migrated.map(({ service, migrations }) => [service, migrations]).sort()).toEqual([
    ['packet-service', NAMES[0]],
    ['trace-backend', NAMES[1]],
  ]);
  await stop(...both);
});

test('a database of a newer version, or with an edited migration, is refused and left unchanged', async () => {
  await database.pool.query(
    `INSERT INTO migrations (number, name, checksum) VALUES (999, '999-future.sql', 'x')`,
  );
  expect((await runToEnd({ DATABASE_URL: databaseUrl })).output).toMatch(
    /cannot start: the database has migration 999-future\.sql/,
  );
  await database.pool.query('DELETE FROM migrations WHERE number = 999');
  const { rows } =
    await database.pool.query(`UPDATE migrations SET checksum = 'x' WHERE number = 100 RETURNING
    (SELECT checksum FROM migrations WHERE number = 100) AS before`);
  expect((await runToEnd({ DATABASE_URL: databaseUrl })).output).toMatch(
    /cannot start: migration 100-baseline\.sql was edited/,
  );
  await database.pool.query('UPDATE migrations SET checksum = $1 WHERE number = 100', [rows[0].before]);
});

testWithCurl("the README's first request and its packet work as described", async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const { folder, remove } = await temporaryFolder();
  const service = await startProcess({ DATA_DIR: folder });
  const [taken] = await runGuide(
    'README.md',
    service.url,
    block => block.startsWith('curl') && block.includes('/intake/scouting'),
  );
  const { packet_uuid } = JSON.parse(taken as string);

  const packet = (await service.send('GET', `/packets/${packet_uuid}`)).body;
  const shown = JSON.parse(/```json\n(\{\n[\s\S]*?)```/.exec(readme)?.[1] as string);
  expect(packet).toEqual({
    ...shown,
    Header: { ...shown.Header, id: packet_uuid },
    Footer: { ...shown.Footer, hash: packet.Footer.hash },
  });
  await stop(service);
  await remove();
});

testWithCurl("the tour's conversation works as described", async () => {
  const service = await startProcess({ DATABASE_URL: databaseUrl });
  const [output] = await runGuide('docs/guides/tour.md', service.url, block => block.includes('/chat/'));
  const message = {
    packet_id: expect.any(String),
    text: 'Habari, mavuno yameanza 🌱',
    timestamp: expect.any(String),
    geoid: '',
  };
  expect(jsonLines(output as string)).toEqual([
    { message: expect.any(String), added: 1 },
    { packet_uuid: expect.any(String) },
    { messages: [message] },
    { results: [{ ...message, thread_id: expect.any(String) }] },
  ]);
  await stop(service);
});

testWithCurl(
  "the tour's shares work as described: an invitation first, then a share, and both in the inbox",
  async () => {
    const service = await startProcess({ DATABASE_URL: databaseUrl });
    const [output] = await runGuide('docs/guides/tour.md', service.url, block => block.includes('/shares'));
    const [invitation, entry, share, inbox] = jsonLines(output as string) as [
      object,
      object,
      object,
      { shares: { from_user: string }[] },
    ];
    expect(invitation).toEqual({
      invitation_id: expect.any(String),
      status: 'invitation_sent',
      message: expect.any(String),
    });
    expect(entry).toMatchObject({ user_id: 'ben', contacts: ['ben@example.org'], discoverable: true });
    expect(share).toEqual({ share_id: expect.any(String), status: 'created', message: expect.any(String) });
    const fromWhom = inbox.shares.map(({ from_user }) => from_user);
    expect(fromWhom.sort()).toEqual(['ana', 'zawadi']);
    await stop(service);
  },
);

testWithCurl(
  'the tour of the trace backend works as described after the shares, from registration to profile',
  async () => {
    const files = await temporaryFolder();
    await emptyDataDir(files.folder);
    const service = await startProcess({ DATA_DIR: files.folder });
    const trace = { url: service.traceUrl, folder: files.folder };
    const kept = (block: string) => block.includes('/shares') || block.includes('/api/user/');
    // Mails of the shares, with codes of their own, lie in the same folder then.
    const [, ...outputs] = await runGuide('docs/guides/tour.md', service.url, kept, trace);
    const answers = outputs.flatMap(output => jsonLines(output)) as { status: string; data: object }[];
    expect(answers.map(({ data }) => data)).toMatchObject([
      { email: 'ana@example.org', status: 'UNCONFIRMED' },
      { email: 'ana@example.org', status: 'CONFIRMED_EMAIL' },
      { role: 'SYSTEM_ADMIN', status: 'ACTIVE' },
      { email: 'ana@example.org', status: 'ACTIVE' },
      { email: 'ana@example.org', status: 'ACTIVE' },
      { email: 'ana@example.org', name: 'Ana', surname: 'Uwase', role: 'USER', companyIds: [] },
    ]);
    await stop(service);
    await files.remove();
  },
);

async function stop(...services: RunningProcess[]): Promise<void> {
  for (const service of services) {
    service.child.kill('SIGTERM');
    expect(await service.ended, service.output()).toBe(0);
  }
}
