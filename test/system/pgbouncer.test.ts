import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Connection } from '../../src/platform/database/database.ts';
import { type TestDatabase, testDatabase } from '../helpers/database.ts';
import { programPath, testWith } from '../helpers/debian.ts';
import { eventually } from '../helpers/eventually.ts';
import { openFeed } from '../helpers/feed.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { accepts, freePort } from '../helpers/free-port.ts';
import { runToEnd, startProcess } from '../helpers/process.ts';
import { openRelay, type Relay } from '../helpers/relay.ts';

const test = await testWith('pgbouncer');

let database: TestDatabase;
/** The server's own socket is closed to PgBouncer's user. */
let way: Relay;
let files: { folder: string; remove: () => Promise<void> };
const bouncers: ChildProcess[] = [];
beforeAll(async () => {
  database = await testDatabase();
  way = await openRelay(database.connection);
  files = await temporaryFolder();
});
afterAll(async () => {
  for (const bouncer of bouncers) {
    const ended = new Promise(resolve => bouncer.once('close', resolve));
    bouncer.kill('SIGKILL');
    await ended;
  }
  await way.close();
  await files.remove();
  await database.drop();
});

/** Starts PgBouncer on loopback; gives the URL of the test's database behind it. */
async function bouncer(mode: 'session' | 'transaction'): Promise<string> {
  const { host, port: serverPort, user, password } = way.connection as Required<Connection>;
  const { database: name } = database.connection;
  const port = await freePort();
  const { folder } = files;
  await chmod(folder, 0o755);
  const users = path.join(folder, 'users.txt');
  const settings = path.join(folder, `${mode}.ini`);
  await writeFile(users, `"${user}" "${password}"\n`);
  await writeFile(
    settings,
    `[databases]
${name} = host=${host} port=${serverPort} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = 60
`,
  );
  const asOther = process.geteuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(programPath('pgbouncer'), [...asOther, settings], { stdio: 'ignore' });
  bouncers.push(child);
  await eventually(() => accepts(port));
  return `postgres://${user}@127.0.0.1:${port}/${name}`;
}

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

test('both services work behind PgBouncer in session mode, and processes notify each other', async () => {
  const environment = {
    DATABASE_URL: await bouncer('session'),
    DATA_DIR: path.join(files.folder, 'data'),
    DATABASE_POOL: '4',
  };
  const [first, second] = [await startProcess(environment), await startProcess(environment)];
  const created = await first.send('POST', '/intake/scouting', observation);
  expect(created.status).toBe(201);
  expect((await second.send('GET', `/packets/${created.body.packet_uuid}/verify`)).body.valid).toBe(true);
  const batch = Array.from({ length: 200 }, (_, n) => ({ intake: 'scouting', body: { ...observation, n } }));
  expect((await first.send('POST', '/intake/batch', batch)).status).toBe(200);
  const page = await second.send('GET', '/packets?limit=1000');
  expect(page.body.count).toBe(201);

  const thread = (await first.send('POST', '/chat/threads', { name: 'Kivu', created_by: 'ana' })).body
    .thread_id;
  const feed = await openFeed(second.url, 'ana');
  await first.send('POST', '/intake/chat-message', { thread_id: thread, from_user: 'ana', text: 'Habari' });
  await eventually(() => feed.events.length === 1);
  feed.close();
  const lines = (await first.send('POST', '/graph/materialize', {})).text.trim().split('\n');
  expect(lines.length).toBeGreaterThan(600);

  const login = await fetch(`${first.traceUrl}/api/user/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'nobody@example.org', password: 'maize in the rain' }),
  });
  expect(login.status).toBe(401);
  for (const url of [first.url, first.traceUrl]) expect((await fetch(`${url}/health`)).status).toBe(200);
  for (const { child, ended, output } of [first, second]) {
    child.kill('SIGTERM');
    expect(await ended, output()).toBe(0);
  }
}, 240_000);

test('a start behind PgBouncer in transaction mode is refused with the reason', async () => {
  const { code, output } = await runToEnd({
    DATABASE_URL: await bouncer('transaction'),
    DATA_DIR: path.join(files.folder, 'data'),
    LOG_LEVEL: 'silent',
  });
  expect([code, output]).toEqual([
    1,
    'fieldtrace cannot start: DATABASE_URL: the connection pooler assigns sessions per transaction; use ' +
      'session mode (PgBouncer: pool_mode = session), or the address of the server itself\n',
  ]);
}, 240_000);
