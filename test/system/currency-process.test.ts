import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { testDatabase } from '../helpers/database.ts';
import { testWith } from '../helpers/debian.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { FX_KEY, fxProvider } from '../helpers/fx-provider.ts';
import { startProcess } from '../helpers/process.ts';

const run = promisify(execFile);
const testWithCurl = await testWith('curl');

testWithCurl(
  "a running process converts for today and a past date, counts its requests, and imports the ECB's history",
  async () => {
    const { folder, remove } = await temporaryFolder();
    const fx = await fxProvider();
    const environment = {
      DATA_DIR: folder,
      SERVICES: 'trace',
      FX_URL: fx.url,
      FX_ACCESS_KEY: FX_KEY,
      LOG_LEVEL: 'debug',
    };
    const service = await startProcess(environment);
    const [username = '', password = ''] = (
      await readFile(path.join(folder, 'first-admin.txt'), 'utf8')
    ).split('\n');
    const jar = path.join(folder, 'cookies');
    const curl = async (route: string, ...more: string[]) => {
      const { stdout } = await run('curl', ['-s', '-b', jar, ...more, `${service.traceUrl}/api/${route}`]);
      return JSON.parse(stdout);
    };
    const body = [
      '-c',
      jar,
      '-H',
      'content-type: application/json',
      '-d',
      JSON.stringify({ username, password }),
    ];
    expect((await curl('user/login', ...body)).status).toBe('OK');
    await eventually(
      async () => fx.asked.length,
      count => count === 2,
    );

    const budget = async () => (await curl('chain/currency/budget')).data;
    const { used } = await budget();
    expect(used).toBe(fx.asked.length);
    const today = await eventually(
      () => curl('chain/currency/convert/100/USD/to/RWF'),
      answer => answer.status === 'OK',
    );
    expect(today.data.exact).toBe('145203.090624');
    expect((await curl('chain/currency/convert/100/USD/to/RWF/on/2024-05-15')).data.date).toBe('2024-05-15');
    expect((await budget()).used).toBe(used + 1);
    expect(fx.asked).toHaveLength(used + 1);
    expect(service.output()).not.toContain(FX_KEY);

    const file = path.join(folder, 'eurofxref-hist.csv');
    await writeFile(file, 'Date,USD,\n2020-01-02,1.1193,\n');
    const cli = await run(process.execPath, ['dist/cli.js', 'import', 'ecb-rates', file], {
      env: { ...process.env, ...environment },
    });
    expect(cli.stdout).toBe('imported 1 rate of 1 day\n');
    expect((await curl('chain/currency/convert/1/EUR/to/USD/on/2020-01-02')).data.exact).toBe('1.1193');
    expect((await budget()).used).toBe(used + 1);

    service.child.kill('SIGTERM');
    expect(await service.ended, service.output()).toBe(0);
    await fx.stop();
    await remove();
  },
);

test('a process that is killed while it waits for the provider has counted what it sent', async () => {
  const database = await testDatabase();
  const { host, port, user, password, database: name } = database.connection;
  const fx = await fxProvider();
  const environment = {
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    SERVICES: 'trace',
    TRACE_ADMIN_EMAIL: 'admin@example.org',
    TRACE_ADMIN_PASSWORD: 'an administrator',
    FX_URL: fx.url,
    FX_ACCESS_KEY: FX_KEY,
  };
  const killed = await startProcess(environment);
  const login = { username: environment.TRACE_ADMIN_EMAIL, password: environment.TRACE_ADMIN_PASSWORD };
  const { headers } = await killed.send('POST', '/api/user/login', login);
  const cookie = { cookie: headers.getSetCookie()[0]?.split(';')[0] as string };
  const budget = async (send = killed.send) =>
    (await send('GET', '/api/chain/currency/budget', undefined, cookie)).body.data;
  await eventually(budget, ({ used }) => used === 2);
  fx.behaviour = 'silent';
  const path = '/api/chain/currency/convert/1/USD/to/EUR/on/2024-05-15';
  const broken = killed.send('GET', path, undefined, cookie).catch(() => 'broken off');
  await eventually(
    () => fx.asked,
    dates => dates.includes('2024-05-15'),
  );
  killed.child.kill('SIGKILL');
  expect(await broken).toBe('broken off');

  fx.behaviour = 'well';
  const next = await startProcess(environment);
  expect((await budget(next.send)).used).toBe(3);
  await database.pool.query('UPDATE trace_backend.currency_fetches SET expires_at = now()');
  expect((await next.send('GET', path, undefined, cookie)).status).toBe(200);
  expect((await budget(next.send)).used).toBe(fx.asked.length);
  next.child.kill('SIGTERM');
  expect(await next.ended, next.output()).toBe(0);
  await fx.stop();
  await database.drop();
});
