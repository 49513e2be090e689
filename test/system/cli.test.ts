import { execFile, spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../helpers/database.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { installPackage } from '../helpers/package.ts';
import { startProcess } from '../helpers/process.ts';

const LAUNCHER = path.resolve(import.meta.dirname, '../../scripts/fieldtrace.mjs');
const { version } = JSON.parse(
  await readFile(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'),
) as {
  version: string;
};

/** The Node of the tests, and the machine's own where it has another from 20 on. */
const nodes = [...new Set([process.execPath, ...ownNodes()])];

function ownNodes(): string[] {
  const folders = (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter(name => !name.includes('node_modules'));
  return folders
    .map(folder => path.join(folder, 'node'))
    .filter(node =>
      /^v(2\d|[3-9]\d)\./.test(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? ''),
    )
    .map(node => realpathSync(node))
    .slice(0, 1);
}

let database: TestDatabase;
let environment: Record<string, string>;
let files: Awaited<ReturnType<typeof temporaryFolder>>;
/** as it is in an installed package, whose commands are built */
let installed: string;
beforeAll(async () => {
  database = await testDatabase();
  files = await temporaryFolder();
  installed = await installPackage(path.join(files.folder, 'node_modules'));
  const { host, port, user, password, database: name } = database.connection;
  environment = {
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    DATA_DIR: files.folder,
  };
});
afterAll(async () => {
  await database.drop();
  await files.remove();
});

function fieldtrace(node: string, words: string[], more: Record<string, string> = {}, launcher = installed) {
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...environment,
    ...more,
  } as NodeJS.ProcessEnv;
  return new Promise<{ code: number; out: string; err: string }>(resolve => {
    const child = execFile(node, [launcher, ...words], { cwd: files.folder, env }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
    child.stdin?.end('a password from a pipe\n');
  });
}

test('the command runs under the Node of the machine and under the bundled one, from any folder', async () => {
  for (const [node, launcher] of [
    ...nodes.map(node => [node, LAUNCHER] as const),
    ...nodes.map(node => [node, installed] as const),
  ]) {
    const run = (...words: string[]) => fieldtrace(node, words, {}, launcher);
    expect(await run('--version'), node).toEqual({ code: 0, out: `${version}\n`, err: '' });
    expect(await run('verify'), node).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing differs'),
      err: '',
    });
  }
});

test('help is about all commands or about one', async () => {
  const run = (...words: string[]) => fieldtrace(process.execPath, words);
  const help = await run('help');
  expect(help).toMatchObject({ code: 0, err: '' });
  expect(help.out).toMatch(/^usage:\n {2}fieldtrace start\n/);
  for (const words of [[], ['-h'], ['--help']]) expect(await run(...words)).toEqual(help);
  const about = await run('help', 'keys', 'rotate');
  expect(about.out).toMatch(/^usage: fieldtrace keys rotate \[--now\]\n\nsigns access tokens with a new key/);
  expect(await run('keys', 'rotate', '-h')).toEqual(about);
});

test('npx runs it, without asking a registry', async () => {
  const env = {
    ...process.env,
    npm_config_cache: path.join(files.folder, 'cache'),
    npm_config_registry: 'http://127.0.0.1:1',
    npm_config_fetch_retries: '0',
  };
  const root = path.dirname(path.dirname(LAUNCHER));
  const run = spawnSync('npx', ['fieldtrace', '--version'], { cwd: root, env, encoding: 'utf8' });
  expect([run.status, run.stdout], run.stderr).toEqual([0, `${version}\n`]);
});

test('wrong input is one sentence on standard error, and the exit code 2', async () => {
  const wrong: [string[], string | RegExp, Record<string, string>?][] = [
    [['kyes', 'rotate'], 'unknown command kyes; did you mean keys rotate?'],
    [['sing'], 'unknown command sing; fieldtrace help lists all commands'],
    [['keys'], 'keys is incomplete; the commands are keys rotate'],
    [['help', 'sing'], 'unknown command sing; fieldtrace help lists all commands'],
    [['verify', '--thread', '3'], 'verify has no option --thread; usage: fieldtrace verify [--threads N]'],
    [['verify', '--threads', '65'], '--threads must be a whole number from 1 to 64'],
    [['verify', '--threads'], '--threads needs a value; usage: fieldtrace verify [--threads N]'],
    [['status', 'now'], 'status does not take now; usage: fieldtrace status'],
    [
      ['service-token', 'rotate', '--now=yes'],
      '--now takes no value; usage: fieldtrace service-token rotate [--now]',
    ],
    [['admin', 'create'], '--email is missing; usage: fieldtrace admin create --email <address>'],
    [
      ['erase', 'packet', '--reason', 'x'],
      'ID is missing; usage: fieldtrace erase packet ID --reason <text>',
    ],
    [['api-key', 'revoke'], 'this is not an API key: keys are ft_ followed by 49 letters and digits'],
    [['user', 'unlock', 'nobody@example.org'], 'no user has this address'],
    [['erase', 'user', ''], 'ID is missing; usage: fieldtrace erase user ID [--service packet|trace]'],
    [['erase', 'packet', 'nonsense', '--reason', 'x'], 'packet nonsense not found'],
    [['notifications', 'replay', '--id', '7'], '--id must be a notification_id; 7 is not one'],
    [['import', 'ecb-rates', '/nowhere.csv'], '/nowhere.csv cannot be read'],
    [['import', 'ecb-rates', '/'], '/ is a folder, not a file'],
    [
      ['verify'],
      /^AUTH_MODE \(it is "maybe"\) must be one of off, optional, required:/,
      { AUTH_MODE: 'maybe' },
    ],
  ];
  for (const [words, sentence, more] of wrong) {
    const { code, out, err } = await fieldtrace(process.execPath, words, more);
    const said = /^fieldtrace: (.*)\n$/.exec(err)?.[1];
    expect([code, out, said], err).toEqual([
      2,
      '',
      typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    ]);
  }
});

test('every administrative command is in the audits of both services, without secrets or paths', async () => {
  const own = await testDatabase();
  const { host, port, user, password, database: name } = own.connection;
  const env = {
    ...environment,
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    SUDO_USER: 'olga',
  };
  const run = (...words: string[]) => fieldtrace(process.execPath, words, env);
  const rates = path.join(files.folder, 'eurofxref-hist.csv');
  await writeFile(rates, 'Date,USD,\n2020-01-02,1.1193,\n');
  const commands: [string, string[], object][] = [
    ['files adopt', [], {}],
    ['admin create', ['--email', 'olga@example.org'], {}],
    ['user unlock', ['olga@example.org'], {}],
    ['user password', ['olga@example.org'], {}],
    ['keys rotate', [], {}],
    ['keys rotate', ['--now'], { now: true }],
    ['service-token', [], {}],
    ['service-token rotate', ['--now'], { now: true }],
    ['import ecb-rates', [rates, '--force'], { force: true }],
    ['notifications replay', [], {}],
    ['export user', ['1', '--to', path.join(files.folder, 'olga.zip')], { ID: '1' }],
    ['verify', ['--threads', '1'], {}],
  ];
  for (const [command, words] of commands) {
    const { code, err } = await run(...command.split(' '), ...words);
    expect([code, err], command).toEqual([0, '']);
  }
  expect(await run('erase', 'packet', '01JD7Q2M8XW3N5R6T8V9Y0Z1A2', '--reason', 'x')).toMatchObject({
    code: 2,
  });

  const packet = { ID: '01JD7Q2M8XW3N5R6T8V9Y0Z1A2' };
  const expected = [
    ...commands.map(([command, , details]) => ({ command, details: { by: 'olga', ...details } })),
    { command: 'erase packet', details: { by: 'olga', ...packet } },
    { command: 'erase packet', details: { by: 'olga', ...packet, outcome: 'failed' } },
  ];
  const { rows } = await own.pool.query('SELECT command, details FROM packet_service.audit ORDER BY id');
  expect(rows).toEqual(expected);

  const service = await startProcess({ ...env, SERVICES: 'trace' });
  const login = { username: 'olga@example.org', password: 'a password from a pipe' };
  const { headers } = await service.send('POST', '/api/user/login', login);
  const cookie = headers.getSetCookie()[0]?.split(';')[0] as string;
  const listed = await service.send('GET', '/api/audit/list?action=COMMAND&sort=ASC', undefined, { cookie });
  const entries = listed.body.data.items as { entityId: string; details: object }[];
  expect(entries.map(({ entityId, details }) => ({ command: entityId, details }))).toEqual(expected);
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);

  const { out } = await run('audit', '--limit', '2');
  const shown = out.trim().split('\n');
  expect(shown.map(line => line.replace(/^\S+Z /, ''))).toEqual([
    `erase packet ${JSON.stringify({ ID: packet.ID, by: 'olga', outcome: 'failed' })}`,
    `erase packet ${JSON.stringify({ ID: packet.ID, by: 'olga' })}`,
  ]);
  await own.drop();
});
