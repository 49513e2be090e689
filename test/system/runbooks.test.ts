import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { mountTmpfs } from '../../src/platform/embedded-postgres/fixtures/stage.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/index.ts';
import { fillDisk } from '../faults/stage.ts';
import { BACKUP_KEY, withSuperuser } from '../helpers/backup.ts';
import { emptyDataDir } from '../helpers/data-dir.ts';
import { programPath, testWith } from '../helpers/debian.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { installedServer, type Server } from '../helpers/server.ts';
import { sender } from '../helpers/service.ts';

const test = await testWith('curl', 'openssl');
const psqlTest = await testWith('curl', 'openssl', 'psql');

const OBSERVATION = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
const ANA = { username: 'ana@example.org', password: 'maize in the rain' };
const OK = '"status":"OK"';
const MINUTES = 60_000;

/** A server that serves, with settings of the test. */
async function startedServer(settings: Record<string, string> = {}): Promise<Server> {
  const server = await installedServer({
    AUTH_MODE: 'optional',
    TRACE_ADMIN_EMAIL: ANA.username,
    TRACE_ADMIN_PASSWORD: ANA.password,
    ...settings,
  });
  onTestFinished(server.remove);
  await emptyDataDir(server.here('/var/lib/fieldtrace'));
  await server.run('install -m 600 /dev/null /var/lib/fieldtrace/first-admin.txt');
  const [started] = await server.follow('Install', { blocks: [2] });
  expect(started).toContain(OK);
  return server;
}

/** Settings of a server that backs up into a folder of its own, which outlives it. */
async function backedUp(): Promise<Record<string, string>> {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  await chmod(folder, 0o755);
  const target = `file://${folder}/backup`;
  return { BACKUP_URL: target, BACKUP_KEY, BACKUP_MAX_LAG_SECONDS: '4' };
}

async function observe(server: Server): Promise<string> {
  const { status, body, text } = await sender(server.url)('POST', '/intake/scouting', OBSERVATION);
  expect(status, text).toBe(201);
  return body.packet_uuid;
}

const statusOf = async (server: Server, id: string) =>
  (await sender(server.url)('GET', `/packets/${id}`)).status;

/** A request to the trace backend. */
const send = (server: Server, method: string, where: string, body?: object, token?: string) =>
  sender(server.traceUrl)(
    method,
    where,
    body,
    token === undefined ? undefined : { authorization: `Bearer ${token}` },
  );

test(
  'Leaked secret: each is replaced, the old one is invalid, and users and backups are unaffected',
  async () => {
    const settings = await backedUp();
    const server = await startedServer({ ...settings, SECRETS_KEY: 'a-key-of-the-station-with-36-letters' });
    const profile = async (token: string) =>
      (await send(server, 'GET', '/api/user/profile', undefined, token)).status;
    const tokens = (await send(server, 'POST', '/api/user/token', ANA)).body.data;
    const made = await send(
      server,
      'POST',
      '/api/user/api-keys',
      { name: 'weather station', scopes: ['write'] },
      tokens.access_token,
    );
    const { key } = made.body.data;
    expect([await profile(tokens.access_token), await profile(key)]).toEqual([200, 200]);

    const [rotated] = await server.follow('Leaked secret', { blocks: [0] });
    expect(rotated).toMatch(/^new tokens will be signed with \S+ in one minute\n\{.*"status":"OK"/);
    expect(await profile(tokens.access_token)).toBe(401);
    const refresh = { refresh_token: tokens.refresh_token };
    const fresh = (await send(server, 'POST', '/api/user/token/refresh', refresh)).body.data;
    expect(await profile(fresh.access_token)).toBe(200);

    const [revoked] = await server.follow('Leaked secret', { blocks: [1], input: `${key}\n` });
    expect(revoked).toBe('revoked the key "weather station" of user 1');
    expect(await profile(key)).toBe(401);

    const before = (await server.run('fieldtrace service-token')).trim();
    const [token] = (await server.follow('Leaked secret', { blocks: [2] })) as [string];
    const lookUp = async (secret: string) =>
      (await send(server, 'GET', `/api/discoverability?contact=${ANA.username}`, undefined, secret)).status;
    expect([await lookUp(before), await lookUp(/^[\w-]{30,}$/m.exec(token)?.[0] as string)]).toEqual([
      401, 200,
    ]);

    const old = await readFile(server.here('/etc/fieldtrace.env'), 'utf8');
    const [sealed] = await server.follow('Leaked secret', { blocks: [5] });
    expect(sealed?.split(OK)).toHaveLength(3);
    const changed = await readFile(server.here('/etc/fieldtrace.env'), 'utf8');
    expect([old, changed].map(text => /^SECRETS_KEY='(.*)'$/m.exec(text)?.[1])).toEqual([
      'a-key-of-the-station-with-36-letters',
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
    expect((await send(server, 'POST', '/api/user/token', ANA)).status).toBe(200);

    const id = await observe(server);
    const [saved] = await server.follow('Leaked secret', { blocks: [4] });
    expect(saved).toContain('is complete');
    expect(saved).toContain('nothing differs');
    expect(saved).toContain(`BACKUP_URL='${settings.BACKUP_URL}-new'`);
    expect(saved).not.toContain(settings.BACKUP_KEY);
    expect(existsSync(`${settings.BACKUP_URL?.slice('file://'.length)}-new`)).toBe(true);
    expect(await statusOf(server, id)).toBe(200);
  },
  8 * MINUTES,
);

psqlTest(
  'Leaked secret: the password of the database is changed in both places',
  async () => {
    const { folder, remove } = await temporaryFolder();
    await emptyDataDir(folder);
    const postgres = await startEmbeddedPostgres({ dataDir: folder, logger: pino({ level: 'silent' }) });
    onTestFinished(async () => {
      await postgres.stop();
      await remove();
    });
    const password = postgres.backup.passwords()['superuser-password'];
    const { host, port } = postgres.owner as { host: string; port: number };
    const administrator = `PGHOST=${host} PGPORT=${port} PGUSER=fieldtrace_superuser PGPASSWORD=${password} PGDATABASE=postgres ${programPath('psql')}`;
    const server = await installedServer({
      AUTH_MODE: 'optional',
      DATABASE_URL: `postgres://station:leaked@/station?host=${encodeURIComponent(host)}&port=${port}`,
    });
    onTestFinished(server.remove);
    await server.run(`${administrator} -q -c "CREATE ROLE station LOGIN PASSWORD 'leaked'"`);
    await server.run(`${administrator} -q -c 'CREATE DATABASE station OWNER station'`);
    await server.follow('Install', { blocks: [2] });
    const id = await observe(server);
    const [changed] = await server.follow('Leaked secret', {
      blocks: [3],
      own: { 'ROLE fieldtrace': 'ROLE station', 'psql -c': `${administrator} -c` },
    });
    expect(changed).toContain(OK);
    expect(await statusOf(server, id)).toBe(200);
    const leaked = `PGHOST=${host} PGPORT=${port} PGUSER=station PGPASSWORD=leaked ${programPath('psql')} -d station`;
    await expect(server.run(`${leaked} -c 'SELECT 1'`)).rejects.toThrow('password authentication failed');
  },
  6 * MINUTES,
);

test(
  'A user is locked out: the user is unlocked and gets a password, and a missing administrator is created',
  async () => {
    const server = await startedServer({ METRICS_TOKEN: 'a-token-of-sixteen' });
    const login = async (password: string, username = ANA.username) =>
      (await send(server, 'POST', '/api/user/token', { username, password })).status;
    await eventually(
      () => login('a wrong password'),
      status => status === 429,
    );
    expect(await login(ANA.password)).toBe(429);
    const [unlocked] = await server.follow('A user is locked out', { blocks: [0] });
    expect(unlocked).toBe(
      'cleared 10 failed attempts of user 1, who is ACTIVE and logs in without a second factor',
    );
    expect(await login(ANA.password)).toBe(200);

    const input = 'sorghum in the sun\n';
    const [set] = await server.follow('A user is locked out', { blocks: [1], input });
    expect(set).toContain('user 1 has a new password');
    expect([await login(ANA.password), await login('sorghum in the sun')]).toEqual([401, 200]);

    const [made] = await server.follow('A user is locked out', { blocks: [2], input });
    expect(made).toContain('you@example.org is now a SYSTEM_ADMIN');
    expect(await login('sorghum in the sun', 'you@example.org')).toBe(200);

    const [look] = await server.follow('First look');
    expect(look).toMatch(/^0 errors, \d+ warnings?\nactive \(running\)$/m);
    expect(look).toMatch(/^packet-service: OK at /m);
    const [slow] = await server.follow('Too slow');
    expect(slow).toMatch(/^nodejs_eventloop_lag_p99_seconds\{.*\} [\d.e-]+$/m);
    expect(slow).toMatch(/^http_request_duration_seconds_count\{/m);
  },
  6 * MINUTES,
);

test(
  'Database gone: it recovers automatically or with a restart, and from the backup if its files are gone',
  async () => {
    const server = await startedServer(await backedUp());
    const id = await observe(server);
    await server.run('fieldtrace backup now');
    const files = server.here('/var/lib/fieldtrace/postgres/data');
    process.kill(Number.parseInt(await readFile(path.join(files, 'postmaster.pid'), 'utf8'), 10), 'SIGKILL');
    const [restarted] = await server.follow('Database gone', { blocks: [0] });
    expect(restarted).toContain(OK);
    expect(await statusOf(server, id)).toBe(200);

    await server.run('systemctl stop fieldtrace');
    await rm(path.join(files, 'base'), { recursive: true });
    const [reason] = await server.follow('Database gone', { blocks: [0] });
    expect(reason).toMatch(/^warning +database +the embedded server .* is not running/m);
    expect(reason).toMatch(/fieldtrace cannot start: /);
    const [restored] = await server.follow('Database gone', { blocks: [1] });
    expect(restored).toContain('nothing differs');
    expect(restored).toContain(OK);
    expect(await statusOf(server, id)).toBe(200);
    expect(existsSync(server.here('/var/lib/fieldtrace-damaged/postgres'))).toBe(true);
  },
  6 * MINUTES,
);

test(
  'Upgrade without BACKUP_URL: the copy from before the upgrade serves again',
  async () => {
    const server = await startedServer();
    const before = await observe(server);
    await server.follow('Upgrade', { blocks: [0] });
    await server.run('systemctl start fieldtrace');
    await server.run(`curl -s --retry 60 --retry-connrefused --retry-delay 1 ${server.url}/health`);
    const after = await observe(server);
    // What a newer version leaves.
    const next =
      "INSERT INTO packet_service.migrations (number, name, checksum) VALUES (999, '999-next.sql', 'x')";
    await withSuperuser(server.here('/var/lib/fieldtrace'), client => client.query(next), 'fieldtrace');
    await server.run('systemctl restart fieldtrace');
    await eventually(server.journal, text =>
      text.includes('999-next.sql of a newer fieldtrace; install the newer'),
    );
    const [restored] = await server.follow('Roll back', { blocks: [2] });
    expect(restored).toContain(OK);
    expect([await statusOf(server, before), await statusOf(server, after)]).toEqual([200, 404]);
    expect(existsSync(server.here('/var/lib/fieldtrace-upgraded/postgres'))).toBe(true);
  },
  6 * MINUTES,
);

test(
  'Lost machine: another one continues from the backup',
  async () => {
    const settings = await backedUp();
    const lost = await startedServer(settings);
    const id = await observe(lost);
    await lost.run('fieldtrace backup now');
    await lost.run('systemctl stop fieldtrace');
    const server = await installedServer({ AUTH_MODE: 'optional', ...settings });
    onTestFinished(server.remove);
    const [restored] = await server.follow('Lost machine');
    expect(restored).toContain('nothing differs');
    expect(restored).toContain(OK);
    expect(await statusOf(server, id)).toBe(200);
  },
  6 * MINUTES,
);

test(
  'Disk full: writes are refused until there is space, without a restart',
  async context => {
    const server = await installedServer({ AUTH_MODE: 'optional' });
    onTestFinished(server.remove);
    await mkdir(server.here('/var/lib'), { recursive: true });
    mountTmpfs(context, server.here('/var/lib/fieldtrace'), 'size=256m,mode=755');
    await server.follow('Install', { blocks: [2] });
    const free = await fillDisk(server.here('/var/lib/fieldtrace'));
    const long = { ...OBSERVATION, message: randomBytes(50_000).toString('hex') };
    const write = async () => (await sender(server.url)('POST', '/intake/scouting', long)).status;
    await eventually(write, status => status === 503);
    const health = async () => (await server.follow('Disk full', { blocks: [1] }))[0];
    await eventually(health, text => text?.includes('WRITES_REFUSED') === true);
    const [look] = await server.follow('Disk full', { blocks: [0] });
    expect(look).toMatch(/^error +packet-service WRITES_REFUSED at /m);
    expect(look).toMatch(/^error +disk +[^ ]+ (bytes|KiB) of 256\.0 MiB free/m);
    expect(look).toMatch(/100% .*\/fieldtrace$/m);
    expect(look).toMatch(/\/postgres$/m);
    await free();
    await eventually(health, text => text?.includes(OK) === true);
    expect(await statusOf(server, await observe(server))).toBe(200);
    // Before the disk is taken away.
    await server.run('systemctl stop fieldtrace');
  },
  6 * MINUTES,
);
