import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { upload } from '../helpers/attachments.ts';
import { administer, type TestDatabase, testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { openFeed } from '../helpers/feed.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runToEnd, startProcess } from '../helpers/process.ts';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli.js');

let database: TestDatabase;
let databaseUrl: string;
let files: { folder: string; remove: () => Promise<void> };
beforeAll(async () => {
  database = await testDatabase();
  files = await temporaryFolder();
  const { host, port, user, password, database: name } = database.connection;
  databaseUrl = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
});
afterAll(async () => {
  await database.drop();
  await files.remove();
});

const settings = (folder: string) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: path.join(files.folder, folder),
  DATABASE_POOL: '4',
});

async function adopt(folder: string): Promise<string> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...settings(folder) } as NodeJS.ProcessEnv;
  return (await promisify(execFile)(process.execPath, [CLI, 'files', 'adopt'], { env })).stdout;
}

test('a process with another file store does not start until `files adopt` records it', async () => {
  const first = await startProcess(settings('first'));
  const { attachment_id } = (await upload(first, 'a leaf')).body;
  const second = await startProcess(settings('first'));
  expect((await second.send('GET', `/attachments/${attachment_id}`)).text).toBe('a leaf');

  const refused = await runToEnd({ ...settings('second'), LOG_LEVEL: 'silent' });
  expect(refused.code).toBe(1);
  expect(refused.output).toMatch(
    /^fieldtrace cannot start: DATA_DIR, S3_BUCKET: the database's files are in the file store [-0-9a-f]{36}, and the folder \S+second\/files has no id\. .*`fieldtrace files adopt`.*\n$/,
  );
  for (const { child, ended, output } of [first, second]) {
    child.kill('SIGTERM');
    expect(await ended, output()).toBe(0);
  }

  expect(await adopt('second')).toMatch(/^the files of the database are in the folder \S+second\/files\n$/);
  const moved = await startProcess(settings('second'));
  const lost = await moved.send('GET', `/attachments/${attachment_id}`);
  expect([lost.status, lost.body.error]).toEqual([500, 'the file is missing from the file store']);
  moved.child.kill('SIGTERM');
  expect(await moved.ended, moved.output()).toBe(0);
  const behind = await runToEnd({ ...settings('first'), LOG_LEVEL: 'silent' });
  expect(behind.output).toMatch(/first\/files has the id [-0-9a-f]{36}\./);
}, 180_000);

const from = (address: string) => ({ 'x-forwarded-for': address });

test('limits by caller and by address apply across all processes, and slots of a killed process are free again', async () => {
  const environment = {
    ...settings('second'),
    TRUST_PROXY: 'true',
    FEEDS_PER_CALLER: '2',
    LOG_LEVEL: 'silent',
  };
  const [first, second] = [await startProcess(environment), await startProcess(environment)];
  const feed = (url: string, address: string) => openFeed(url, 'amina', undefined, from(address));
  await feed(first.url, '192.0.2.1');
  await feed(second.url, '192.0.2.1');
  for (const { url } of [first, second]) await expect(feed(url, '192.0.2.1')).rejects.toThrow('answered 429');
  await feed(second.url, '192.0.2.2');

  const confirm = async ({ traceUrl }: typeof first) => {
    const headers = { 'content-type': 'application/json', ...from('192.0.2.1') };
    const body = JSON.stringify({ token: 'guessed' });
    return (await fetch(`${traceUrl}/api/user/confirm_email`, { method: 'POST', headers, body })).status;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 10; n++) statuses.push(await confirm(first), await confirm(second));
  expect([...new Set(statuses)]).toEqual([400]);
  expect([await confirm(first), await confirm(second)]).toEqual([429, 429]);

  first.child.kill('SIGKILL');
  await first.ended;
  await eventually(() => feed(second.url, '192.0.2.1').catch(() => undefined));
  await expect(feed(second.url, '192.0.2.1')).rejects.toThrow('answered 429');
  expect(await confirm(second)).toBe(429);
  second.child.kill('SIGTERM');
  expect(await second.ended, second.output()).toBe(0);
}, 240_000);

test('a process that needs too many connections does not start, and one that may have to wait for connections says so', async () => {
  const { database: name } = database.connection;
  const server = inject('databaseServer');
  await administer(server, `ALTER DATABASE ${name} CONNECTION LIMIT 15`);
  const refused = await runToEnd({ ...settings('second'), LOG_LEVEL: 'silent' });
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /^fieldtrace cannot start: DATABASE_POOL: this process opens up to 21 connections and the server allows 15: /,
    ),
  });
  await administer(server, `ALTER DATABASE ${name} CONNECTION LIMIT 21`);
  const other = await database.pool.connect();
  const service = await startProcess(settings('second'));
  other.release();
  expect(service.log()).toMatch(
    /this process opens up to 21 connections, and \d+ of the server's 21 are in use/,
  );
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
}, 240_000);
