import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkServerFacts } from '../../src/doctor/database.ts';
import type { Finding } from '../../src/doctor/finding.ts';
import { checkConsole } from '../../src/doctor/services.ts';
import { settingsInForce } from '../../src/doctor/settings.ts';
import { withSession } from '../../src/platform/database/database.ts';
import { readServerFacts } from '../../src/platform/database/server-facts.ts';
import { troublesIn } from '../../src/platform/embedded-postgres/look.ts';
import { readSettings, Settings } from '../../src/platform/settings/settings.ts';
import { loopbackRegistry } from '../helpers/asset-registry.ts';
import { fieldtrace, observe } from '../helpers/backup.ts';
import { asService, type TestDatabase, testDatabase } from '../helpers/database.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/free-port.ts';
import { FX_KEY, fxProvider } from '../helpers/fx-provider.ts';
import { mailServer } from '../helpers/mail-server.ts';
import { type RunningProcess, startProcess } from '../helpers/process.ts';
import { type Change, lackingLast, NAMES, turnBack } from '../helpers/replaced.ts';
import { keyServer } from '../helpers/user-registry.ts';

const NOTHING = {
  state: 'none',
  layout: undefined,
  major: undefined,
  troubles: { crashes: [] as string[], failedWrites: [] as string[] },
} as const;
const NO_ROLES = { connection: undefined, owner: undefined };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let environment: Record<string, string>;
let service: RunningProcess;
let database: TestDatabase;
beforeAll(async () => {
  folder = await temporaryFolder();
  chmodSync(folder.folder, 0o755);
  environment = {
    DATA_DIR: folder.folder,
    PACKET_PORT: String(await freePort()),
    TRACE_PORT: String(await freePort()),
    CONSOLE_PORT: String(await freePort()),
    METRICS_TOKEN: 'a-token-of-sixteen',
    WEBHOOK_URL: 'https://hooks.example/secret/path?token=hunter2',
    WEBHOOK_SECRET: 'hunter2'.repeat(5),
    SMTP_URL: 'smtp://ana:hunter2@mail.example:587',
    TRACE_ADMIN_EMAIL: 'admin@example.org',
    TRACE_ADMIN_PASSWORD: 'an administrator',
  };
  service = await startProcess(environment);
  database = await testDatabase();
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await database.drop();
  await folder.remove();
});

const findingsOf = async (settings: Record<string, string>) => {
  const { code, out, err } = await fieldtrace(settings, 'doctor', '--json');
  expect(err).toBe('');
  return { code, findings: JSON.parse(out).findings as Finding[] };
};
const about = (findings: readonly Finding[], check: string) =>
  findings.filter(finding => finding.check === check);

/** Settings for a database that no service uses, by default that of this test file alone. */
function external({ connection }: TestDatabase = database): Record<string, string> {
  const { host, port, user, password, database: name } = asService(connection);
  return {
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    DATA_DIR: path.join(folder.folder, 'elsewhere'),
    PACKET_PORT: '0',
    TRACE_PORT: '0',
    CONSOLE_PORT: '0',
  };
}

test('the doctor checks a running service completely, masks secrets and disturbs nothing', async () => {
  await observe(service);
  const { code, out, err } = await fieldtrace(environment, 'doctor');
  expect([code, err], out).toEqual([0, '']);
  for (const line of [
    /^ok +packet-service +responds at http/m,
    /^ok +trace-backend +responds at http/m,
    /^ok +console +responds at http/m,
    /^ok +database +PostgreSQL 18\.\d+, up for \d+ (s|min), role fieldtrace$/m,
    /^ok +durability +fsync, full_page_writes, synchronous_commit and data checksums are on$/m,
    /^ok +privileges +the services' role can read the tables and owns none$/m,
    /^ok +migrations +both services are up to date$/m,
    /^ok +files +the folder \S+ has the id that the database records$/m,
    /^ok +log +1 entries/m,
    /^ok +dead letters +none$/m,
    /^ok +clock +not behind the newest row$/m,
    /^ok +accounts +all active users have confirmed their addresses$/m,
    /^ok +DATA_DIR +\S+; only its owner can read private files$/m,
    /^warning +backup +no backups: BACKUP_URL is not set\n +→ set BACKUP_URL/m,
    /^0 errors, \d+ warnings?$/m,
    /^ +SMTP_URL=smtp:\/\/ana:\*\*\*@mail\.example:587$/m,
    /^ +WEBHOOK_URL=https:\/\/hooks\.example\/…\?…$/m,
    /^ +METRICS_TOKEN=\*\*\*$/m,
  ])
    expect(out).toMatch(line);
  expect(out).not.toMatch(/hunter2|an administrator|of-sixteen/);
  expect(service.log()).not.toMatch(/lost PostgreSQL|"level":"error"/);
  await observe(service);
});

test('status is about ten lines with counts and rates', async () => {
  const { code, out, err } = await fieldtrace(environment, 'status');
  expect([code, err]).toEqual([0, '']);
  const lines = out.trim().split('\n');
  expect(lines.map(line => line.split(':')[0])).toEqual([
    'fieldtrace',
    'packet-service',
    'trace-backend',
    'console',
    'database',
    'packets',
    'log',
    'notifications',
    'people',
    'emails of the trace backend',
    'backup',
    'disk',
  ]);
  expect(out).toMatch(/^packet-service: OK at http:\S+, up for \d+ (s|min), \d+ requests \(\d+\.\d\/s\)$/m);
  expect(out).toMatch(/^packets: 2, 2 in the last hour \(0\.0\/min\)$/m);
  expect(out).toMatch(/^log: 2 entries, 0 in the outbox$/m);
  expect(out).toMatch(/^people: 1 users, 0 companies, 0 products$/m);
});

test('a fault is an error that says what to do, and the exit code is 1', async () => {
  const password = path.join(folder.folder, 'postgres', 'password');
  chmodSync(password, 0o644);
  const other: Server = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
  await new Promise(resolve => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const wrong = { ...environment, TRACE_PORT: String(port), CONSOLE_PORT: String(port) };
  const { code, findings } = await findingsOf(wrong);
  chmodSync(password, 0o600);
  other.close();
  expect(code).toBe(1);
  expect(about(findings, 'DATA_DIR')).toEqual([
    expect.objectContaining({ level: 'error', remedy: `chmod go= ${password}` }),
  ]);
  expect(about(findings, 'trace-backend')).toEqual([
    expect.objectContaining({ level: 'error', message: expect.stringContaining('another program listens') }),
  ]);
  expect(about(findings, 'console')).toContainEqual(
    expect.objectContaining({ level: 'error', remedy: expect.stringContaining('CONSOLE_PORT') }),
  );
});

test('an unbuilt console is a warning that says how to build it, if it is among the services', async () => {
  const { folder: empty, remove } = await temporaryFolder();
  onTestFinished(remove);
  expect(checkConsole({ SERVICES: 'packet,trace,console' }, empty)).toEqual([
    expect.objectContaining({ level: 'warning', remedy: expect.stringContaining('npm run console') }),
  ]);
  expect(checkConsole({ SERVICES: 'packet,trace' }, empty)).toEqual([]);
  writeFileSync(path.join(empty, 'index.html'), '');
  expect(checkConsole({ SERVICES: 'console' }, empty)).toEqual([expect.objectContaining({ level: 'ok' })]);
});

test('a folder in DATA_DIR that belongs to another user, and a password that others can read, are errors', async () => {
  const { folder: home, remove } = await temporaryFolder();
  onTestFinished(remove);
  chmodSync(home, 0o755);
  mkdirSync(path.join(home, 'files'), { mode: 0o500 });
  const [other, isRoot] = [65_534, process.getuid?.() === 0];
  if (isRoot) chownSync(home, other, other);
  const check = (dataDir = home) => {
    const script = `import { checkDataDir } from ${JSON.stringify(path.resolve('src/doctor/data-dir.ts'))};
      ${isRoot ? `process.setgid(${other}); process.setuid(${other});` : ''}
      console.log(JSON.stringify(checkDataDir({ DATA_DIR: ${JSON.stringify(dataDir)} }, {})))`;
    const words = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
    return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as Finding[];
  };
  const user = isRoot ? other : process.getuid?.();
  const files = path.join(home, 'files');
  expect(about(check(), 'DATA_DIR')).toEqual([
    {
      check: 'DATA_DIR',
      level: 'error',
      message: `this user cannot write to ${files}`,
      remedy: `run as the owner of DATA_DIR (user id ${user}), or chown -R ${user} ${files}`,
    },
  ]);
  chmodSync(files, 0o700);
  if (isRoot) chownSync(files, other, other);
  if (isRoot) {
    chownSync(home, 12_345, 12_345);
    chmodSync(home, 0o700);
    expect(about(check(path.join(home, 'below')), 'DATA_DIR')).toEqual([
      {
        check: 'DATA_DIR',
        level: 'error',
        message: `${home}/below cannot be read: ${home} belongs to user 12345 with mode 700, and this is user ${other}`,
        remedy: `run fieldtrace as user 12345 or as root, or give it to this user: \`chown -R ${other} ${home}/below\``,
      },
    ]);
    chmodSync(home, 0o755);
    chownSync(home, other, other);
  }
  const secret = path.join(home, 'first-admin.txt');
  writeFileSync(secret, 'admin@fieldtrace.local', { mode: 0o644 });
  expect(about(check(), 'DATA_DIR')).toEqual([
    expect.objectContaining({ level: 'error', remedy: `chmod go= ${secret}` }),
  ]);
  chmodSync(secret, 0o600);
  expect(about(check(), 'DATA_DIR')).toEqual([expect.objectContaining({ level: 'ok' })]);
});

test('a silent server is an error, and ends with the other checks', async () => {
  const silent: Server = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise(resolve => silent.once('listening', resolve));
  const { port } = silent.address() as AddressInfo;
  const { findings } = await findingsOf({ ...environment, PACKET_PORT: String(port) });
  silent.closeAllConnections();
  silent.close();
  expect(about(findings, 'packet-service')).toEqual([
    expect.objectContaining({ level: 'error', message: expect.stringContaining('is not responding') }),
  ]);
  expect(about(findings, 'migrations')).toHaveLength(1);
});

/** The systems outside that a service asks, and settings that name them. */
async function outsideSystems() {
  const keys = await keyServer();
  const registry = await loopbackRegistry({ version: 2, token: 'the-token' });
  const rates = await fxProvider();
  const mails = await mailServer();
  onTestFinished(async () => {
    await Promise.all([keys, registry, rates, mails].map(({ stop }) => stop()));
  });
  await keys.rotate();
  const right = {
    ...external(),
    USER_REGISTRY_JWKS_URL: `${keys.url}?secret=hunter2/jwks.json`,
    ASSET_REGISTRY_URL: registry.url,
    ASSET_REGISTRY_TOKEN: 'the-token',
    FX_URL: rates.url,
    FX_ACCESS_KEY: FX_KEY,
    SMTP_URL: mails.url,
  };
  return { keys, registry, rates, mails, right };
}

/** The findings about them: level, message and remedy, without any secret. */
async function foundOutside(settings: Record<string, string>) {
  const { findings } = await findingsOf(settings);
  expect(JSON.stringify(findings)).not.toContain('hunter2');
  return ['user registry', 'asset registry', 'mail server', 'exchange rates'].map(check => {
    const [finding] = about(findings, check);
    return [finding?.level, finding?.message, finding?.remedy] as const;
  });
}

test('external systems are checked as the services use them, and each refusal is reported with a remedy', async () => {
  const { keys, registry, rates, mails, right } = await outsideSystems();
  const without = await foundOutside(external());
  expect(without.map(([level]) => level)).toEqual([undefined, undefined, undefined, undefined]);
  const host = (url: string) => new URL(url).host;
  expect(await foundOutside(right)).toEqual([
    ['ok', `publishes 1 key at ${keys.url}`, undefined],
    ['ok', `responds at ${registry.url}/`, undefined],
    ['ok', `${host(mails.url)} accepts the login`, undefined],
    ['ok', `the provider responds at ${rates.url}`, undefined],
  ]);
  expect(registry.count('register-point')).toBe(0);
  expect([rates.asked, mails.attempts]).toEqual([['latest'], 0]);

  keys.behaviour = 'nonsense';
  rates.behaviour = 'bad key';
  mails.refusesLogins = true;
  const wrong = await foundOutside({
    ...right,
    ASSET_REGISTRY_TOKEN: 'hunter2',
    SMTP_URL: mails.url.replace('//', '//ana:hunter2@'),
  });
  expect(wrong).toEqual([
    ['error', expect.stringContaining('a body that is not JSON'), expect.stringMatching(/^correct USER_REG/)],
    ['error', expect.stringContaining('rejected our token'), expect.stringContaining('ASSET_REGISTRY_TOKEN')],
    [
      'error',
      expect.stringContaining('does not accept the login (535)'),
      expect.stringContaining('SMTP_URL'),
    ],
    ['error', expect.stringContaining('rejected FX_ACCESS_KEY'), expect.stringContaining('FX_ACCESS_KEY')],
  ]);
});

test('unreachable external systems are reported, and the rates of a day are not requested twice', async () => {
  const { rates, right } = await outsideSystems();
  const silent: Server = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise(resolve => silent.once('listening', resolve));
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const nowhere = `127.0.0.1:${await freePort()}`;
  const gone = await foundOutside({
    ...right,
    USER_REGISTRY_JWKS_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/jwks.json`,
    ASSET_REGISTRY_URL: `http://${nowhere}`,
    FX_URL: `http://${nowhere}`,
    SMTP_URL: `smtp://${nowhere}`,
  });
  expect(gone).toEqual([
    ['error', expect.stringContaining('did not respond in time'), expect.any(String)],
    ['error', expect.stringContaining('could not be reached (ECONNREFUSED)'), expect.any(String)],
    ['warning', expect.stringContaining('could not be reached (E'), expect.stringContaining('emails wait')],
    ['warning', expect.stringContaining('could not be reached'), expect.stringContaining('older rates')],
  ]);

  // One request a day is enough to know that the provider answers.
  await database.pool.query(
    `INSERT INTO trace_backend.daily_retrievals (day, claimed_at, done_at) SELECT generate_series, now(), now()
     FROM generate_series(current_date - 1, current_date + 1, '1 day')`,
  );
  const requestsBefore = rates.asked.length;
  expect((await foundOutside(right))[3]).toEqual([
    'ok',
    expect.stringContaining("today's rates were retrieved"),
    undefined,
  ]);
  expect(rates.asked).toHaveLength(requestsBefore);
});

test('an external database: outbox, newest row, dead letters, files, privileges', async () => {
  await database.pool.query(`
    INSERT INTO packet_log (position, kind, tag, clock) VALUES (1, 'packet', 1, now() + interval '1 hour');
    INSERT INTO packet_log_queue (kinds) VALUES ('{packet}');
    INSERT INTO file_store (id, recorded_at) VALUES ('0197a3f0-5a6e-7c1d-8a53-9d1f2f6d2c11', now());
    INSERT INTO notifications (notification_id, type, contact, packet_id, share_id, from_user, created_at)
      SELECT id, 'share.created', 'ana@example.org', id, id, 'ben', now()
      FROM (SELECT gen_random_uuid() AS id) AS made;
    INSERT INTO notification_deliveries (notification_id, channel, status, attempts)
      SELECT notification_id, 'mail', 'dead', 20 FROM notifications;
    REVOKE SELECT ON chat_messages FROM fieldtrace`);
  await database.pool.query(`
    INSERT INTO trace_backend.users (email, email_key, password, name, surname, language, status, role, created_at)
    SELECT status, status, '', '', '', 'EN', status, 'USER', now()
    FROM unnest('{ACTIVE,CONFIRMED_EMAIL}'::text[]) AS status`);
  const { code, findings } = await findingsOf(external());
  expect(code).toBe(1);
  const found = (check: string, level: string, message: RegExp) =>
    expect(about(findings, check)).toContainEqual(
      expect.objectContaining({ level, message: expect.stringMatching(message), remedy: expect.any(String) }),
    );
  found('log', 'error', /^1 events are stuck in the outbox/);
  found('clock', 'warning', /^is 3\d{3} s behind the newest row/);
  found('accounts', 'warning', /^1 active user has not confirmed their address/);
  found('dead letters', 'warning', /^1 notifications could not be delivered/);
  found('files', 'error', /the database's files are in the file store 0197a3f0/);
  found('privileges', 'error', /cannot read packet_service\.chat_messages$/);
  found('DATA_DIR', 'warning', /does not exist$/);
  expect(existsSync(path.join(folder.folder, 'elsewhere'))).toBe(false);

  const { findings: newer } = await (async () => {
    await database.pool.query(
      `INSERT INTO migrations (number, name, checksum) VALUES (999, '999-future.sql', 'x')`,
    );
    return findingsOf(external());
  })();
  expect(about(newer, 'migrations')).toContainEqual(
    expect.objectContaining({ level: 'error', message: expect.stringContaining('999-future.sql') }),
  );

  const gone = await findingsOf({ ...external(), DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/x' });
  expect(about(gone.findings, 'database')).toEqual([
    expect.objectContaining({ level: 'error', message: expect.stringContaining('ECONNREFUSED') }),
  ]);
});

test('the doctor says whether a database of v0.1.0 or before can be upgraded, and to which version first', async () => {
  const old = await testDatabase();
  onTestFinished(old.drop);
  const migrationsOf = async (change?: Change) => {
    await turnBack(old.connection, change, asService(old.connection));
    const { code, findings } = await findingsOf(external(old));
    return [
      code,
      about(findings, 'migrations').map(({ level, message, remedy }) => [level, message, remedy]),
    ];
  };
  expect(await migrationsOf()).toEqual([
    0,
    ['packet service', 'trace backend'].map((name, index) => [
      'warning',
      `the ${name} lacks ${NAMES[index]?.join(', ')}`,
      'start it, or run `fieldtrace migrate`',
    ]),
  ]);
  expect(await migrationsOf(lackingLast('trace_backend'))).toEqual([
    1,
    [
      [
        'warning',
        `the packet service lacks ${NAMES[0]?.join(', ')}`,
        'start it, or run `fieldtrace migrate`',
      ],
      [
        'error',
        'the database is older than fieldtrace v0.1.0 (it has 39 of 40 migrations) and was left unchanged',
        expect.stringMatching(
          /^start v0\.1\.0 on it once \(git checkout v0\.1\.0, then npm start\), then this/,
        ),
      ],
    ],
  ]);
});

test('every way in which a server can lose data has its own finding', async () => {
  const facts = await withSession(database.connection, readServerFacts);
  const judge = (differs: Partial<typeof facts>, now = facts.now) =>
    checkServerFacts(
      { embedded: { ...NOTHING, ...NO_ROLES }, facts: { ...facts, ...differs }, findings: [] },
      now,
    )
      .filter(({ level }) => level !== 'ok')
      .map(({ check, level, message }) => `${level} ${check}: ${message.slice(0, 40)}`);
  expect(judge({})).toEqual([]);
  expect(judge({ fsync: false })).toEqual(['error durability: fsync is off: a power cut destroys the d']);
  expect(judge({ synchronousCommit: 'off' })[0]).toMatch(/^error durability: synchronous_commit is off/);
  expect(judge({ fullPageWrites: false })[0]).toMatch(/^warning durability: full_page_writes is off/);
  expect(judge({ checksums: false })[0]).toMatch(/^warning durability: data checksums are off/);
  expect(judge({ checksumFailures: 2 })[0]).toMatch(/^error durability: 2 pages do not match/);
  expect(judge({ readOnly: true })[0]).toMatch(/^error database: it is read-only/);
  expect(judge({ isSuperuser: true })[0]).toMatch(/^warning privileges: the services connect as the super/);
  expect(judge({ versionNumber: 140_009, version: '14.9' })[0]).toMatch(/^error database: PostgreSQL 14\.9/);
  expect(judge({ connections: 96, maxConnections: 97 })).toEqual([
    'warning connections: 96 of 97 are in use',
  ]);
  expect(judge({ longest: { statement: 'find_packets', seconds: 300 } })).toEqual([
    'warning statements: find_packets has run for 5 min',
  ]);
  expect(judge({}, new Date(facts.now.getTime() + 60_000))).toEqual([
    "warning clock: is 60 s ahead of the database's clock",
  ]);
});

test('each crash of the server is counted once, and neither a restore nor a failed write is one', () => {
  const now = new Date('2026-03-02T08:00:00Z');
  const line = (time: string, text: string) => `2026-03-02 ${time}.123 UTC [77] LOG:  ${text}\n`;
  const recovered = (time: string) =>
    line(time, 'database system was interrupted; last known up at 2026-03-02 01:00:00 UTC') +
    line(time, 'database system was not properly shut down; automatic recovery in progress');
  const killed = (time: string) => line(time, 'server process (PID 12) was terminated by signal 9: Killed');
  const restored =
    line('01:00:00', 'database system was interrupted; last known up at 2026-03-01 23:00:00 UTC') +
    line('01:00:01', 'starting backup recovery with redo LSN 0/3000028');
  const full = line('05:00:00', 'could not write to file "base/1/2": No space left on device');
  const findings = (log: string) =>
    checkServerFacts(
      {
        embedded: { ...NOTHING, ...NO_ROLES, troubles: troublesIn(log, now) },
        facts: undefined,
        findings: [],
      },
      now,
    ).map(({ level, message }) => `${level}: ${message}`);
  expect(findings('')).toEqual([]);
  expect(findings(restored)).toEqual([]);
  expect(findings(full)).toEqual([
    'warning: PostgreSQL could not write once in the last 24 hours, at 2026-03-02 05:00:00 UTC',
  ]);
  expect(findings(killed('02:00:00'))).toEqual([
    'warning: PostgreSQL was killed or crashed once in the last 24 hours, at 2026-03-02 02:00:00 UTC',
  ]);
  const twice = killed('02:00:00') + recovered('02:00:01') + recovered('03:00:00');
  const count = 'warning: PostgreSQL was killed or crashed 2 times in the last 24 hours, the last time at ';
  expect(findings(twice + line('04:00:00', 'database system is shut down'))).toEqual([
    `${count}2026-03-02 03:00:00 UTC`,
  ]);
  const yesterday = recovered('02:00:00').replaceAll('2026-03-02', '2026-03-01');
  expect(findings(yesterday)).toEqual([]);
});

test('every secret setting is masked', () => {
  const secrets = Object.keys(Settings.properties).filter(name =>
    /SECRET|TOKEN|KEY|PASSWORD(?!_POLICY)/.test(name),
  );
  const secretSettings = Object.fromEntries(secrets.map(name => [name, 'hunter2'.repeat(6)]));
  const urls = {
    DATABASE_URL: 'postgres://u:hunter2@h/d?password=hunter2',
    BACKUP_URL: 's3://bucket/prefix',
  };
  const inForce = settingsInForce(readSettings({ ...secretSettings, ...urls }), {
    ...secretSettings,
    ...urls,
  });
  expect(JSON.stringify(inForce)).not.toContain('hunter2');
  expect(inForce).toContainEqual({ name: 'DATABASE_URL', value: 'postgres://u:***@h/d?…', given: true });
  expect(inForce).toContainEqual({ name: 'BACKUP_URL', value: 's3://bucket/prefix', given: true });
  expect(inForce).toContainEqual({ name: 'PACKET_PORT', value: '8000', given: false });
});

test('the doctor reports a stopped service, checks the rest and starts nothing', async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  const { code, findings } = await findingsOf(environment);
  expect(code).toBe(0);
  expect(about(findings, 'packet-service')).toEqual([
    expect.objectContaining({ level: 'warning', message: expect.stringContaining('not running') }),
  ]);
  expect(about(findings, 'database')).toEqual([
    expect.objectContaining({ level: 'warning', message: expect.stringContaining('not running') }),
  ]);
  expect(about(findings, 'DATA_DIR')).toEqual([expect.objectContaining({ level: 'ok' })]);
  expect(about(findings, 'disk')).toHaveLength(1);
  expect(existsSync(path.join(folder.folder, 'postgres/data/postmaster.pid'))).toBe(false);

  const data = path.join(folder.folder, 'postgres/data');
  renameSync(data, `${data}-elsewhere`);
  const gone = await findingsOf(environment);
  renameSync(`${data}-elsewhere`, data);
  expect([gone.code, about(gone.findings, 'database')]).toEqual([
    1,
    [expect.objectContaining({ level: 'error', message: expect.stringContaining('is gone from') })],
  ]);
  const { code: statusCode, out } = await fieldtrace(environment, 'status');
  expect([statusCode, out]).toEqual([
    0,
    expect.stringMatching(/^database: the embedded server .* is not running/m),
  ]);
});
