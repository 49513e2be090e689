import { execFile, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { temporaryFolder } from './helpers/folder.ts';
import { sender } from './helpers/service.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const run = promisify(execFile);
const MINUTES = 60_000;

const FIELD = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      properties: { name: 'Kivu' },
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [29.2, -1.7],
            [29.21, -1.7],
            [29.21, -1.69],
            [29.2, -1.7],
          ],
        ],
      },
    },
  ],
};
const OBSERVATION = {
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: -1.6975, lon: 29.2075 },
  message: 'Leaf rust',
};

/** npm, with the registry and the cache that it is configured with, as from a shell outside of npm's scripts. */
function npm(folder: string, ...words: string[]) {
  const outside = Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_/.test(name));
  return run('npm', words, { cwd: folder, env: Object.fromEntries(outside), timeout: 5 * MINUTES });
}

/** Where the registry cannot be reached, the test does not run; in CI that is a failure. */
async function install(folder: string, archive: string, context: TestContext): Promise<void> {
  const words = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=1', archive];
  try {
    await npm(folder, 'install', ...words);
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    const code = /code (E(?:NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH))/.exec(stderr)?.[1];
    if (code === undefined || process.env.CI === 'true') throw error;
    context.skip(`the npm registry cannot be reached (${code})`);
  }
}

/** Starts the installed services, and waits for their addresses. */
async function start(program: string, folder: string, environment: NodeJS.ProcessEnv) {
  const child = spawn(program, ['start'], { cwd: folder, env: environment });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', chunk => {
      output += chunk;
    });
  }
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', () => {
      const found = /^fieldtrace packet service\s+(\S+)/m.exec(output)?.[1];
      if (found) resolve(found);
    });
    ended.then(code => reject(new Error(`ended with ${code}:\n${output}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    return { code: await ended, output };
  };
  return { send: sender(url), stop };
}

test(
  'the package that npm pack makes is installed in an empty folder and serves, with its own Node and PostgreSQL',
  async context => {
    const { folder, remove } = await temporaryFolder();
    onTestFinished(remove);
    const packed = await npm(ROOT, 'pack', '--json', '--pack-destination', folder);
    const [{ filename, files }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[')));
    const names: string[] = files.map(({ path: name }: { path: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['dist/main.js', 'docs/operations.md', 'LICENSE']));
    expect(names.filter(name => /\.ts$|\.test\.|fixtures|^(bench|src|test)\//.test(name))).toEqual([]);

    await writeFile(path.join(folder, 'package.json'), '{}');
    await install(folder, path.join(folder, filename), context);
    const program = path.join(folder, 'node_modules/.bin/fieldtrace');
    const environment = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PACKET_PORT: '0',
      TRACE_PORT: '0',
      BACKUP_URL: `file://${folder}/backup`,
      BACKUP_KEY: 'a passphrase of several words',
    };
    const command = async (...words: string[]) =>
      (await run(program, words, { cwd: folder, env: environment })).stdout.trim();
    const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
    expect(await command('--version')).toBe(version);
    expect(await command('prepare')).toMatch(/^PostgreSQL 18\.\S+ is completely installed$/);

    const service = await start(program, folder, environment);
    const fields = await service.send('PUT', '/fields', FIELD);
    const { status, body } = await service.send('POST', '/intake/scouting', OBSERVATION);
    expect(status).toBe(201);
    const packet = (await service.send('GET', `/packets/${body.packet_uuid}`)).body;
    expect(packet).toMatchObject({
      Header: { geoid: fields.body.fields[0].geoid },
      Body: { message: 'Leaf rust' },
    });
    expect((await service.send('GET', '/graph')).text).toContain('<html');
    // These two have workers.
    expect(await command('verify')).toMatch(/verified 1 packets .*: nothing differs$/);
    expect(await command('backup', 'now')).toMatch(/^base backup .* is complete/);
    const { code, output } = await service.stop();
    expect([code, output]).toEqual([0, expect.stringContaining('stopped PostgreSQL')]);
  },
  5 * MINUTES,
);
