import { Writable } from 'node:stream';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkReplicas } from '../../src/doctor/replicas.ts';
import { checkSettings } from '../../src/doctor/settings.ts';
import { newUlid } from '../../src/packet-service/core/packet-format/ulid.ts';
import { connectionFromUrl, openPool } from '../../src/platform/database/database.ts';
import { fromReplica } from '../../src/platform/database/replicas/read-from.ts';
import { errorCode } from '../../src/platform/database/troubles.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Replication, type Standby, startReplication } from '../helpers/replication.ts';
import { type Answer, type RunningService, runningService } from '../helpers/service.ts';

let replication: Replication;
let first: Standby;
let second: Standby;
let service: RunningService & { log: () => string };
beforeAll(async () => {
  replication = await startReplication();
  first = await replication.standby();
  second = await replication.standby();
  service = await serviceWith(`${first.url},${second.url}`);
}, 240_000);
afterAll(async () => {
  await service.stop();
  await replication.stop();
});

/** A service over the primary that reads from standbys, when it has found out that it can. */
async function serviceWith(urls: string, environment: Record<string, string> = {}, count = 2) {
  const lines: string[] = [];
  const stream = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
  // The standbys of a busy machine may be behind.
  const settings = { READ_DATABASE_URL: urls, READ_MAX_LAG_SECONDS: '3600', ...environment };
  const running = await runningService(settings, replication, {
    logger: pino(stream),
    role: replication.role,
  });
  await eventually(async () => (await usedBy(running)) === count);
  return { ...running, log: () => lines.join('') };
}

async function metric(of: Pick<RunningService, 'send'>, name: string): Promise<number> {
  const { text } = await of.send('GET', '/metrics');
  const lines = text.split('\n').filter(line => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const usedBy = (of: Pick<RunningService, 'send'>) => metric(of, 'replica_used');
const onReplicas = () => metric(service, 'reads_total{server="replica",reason=""');
const onPrimary = (reason: string) => metric(service, `reads_total{server="primary",reason="${reason}"`);

const user = (name: string) => `${name}-${newUlid()}`;
let locations = 0;
const newLocation = () => ({ lat: 1 + ++locations / 1000, lon: 29 });

function observe(location: object = newLocation(), headers = {}): Promise<Answer> {
  const body = { observed_at: '2026-03-01T08:15:00Z', capture_point: location };
  return service.send('POST', '/intake/scouting', body, headers);
}

const positionOf = ({ headers }: Answer) => headers.get('fieldtrace-position') as string;
const after = (answer: Answer) => ({ 'fieldtrace-position': positionOf(answer) });

/** Both standbys stop to replay, so that nothing new is visible there. */
async function pauseReplay(...standbys: Standby[]): Promise<void> {
  for (const standby of standbys) await standby.run('SELECT pg_wal_replay_pause()');
  for (const standby of standbys) {
    await eventually(async () => {
      const { rows } = await standby.run('SELECT pg_get_wal_replay_pause_state() AS state');
      return rows[0].state === 'paused';
    });
  }
}

async function resumeReplay(...standbys: Standby[]): Promise<void> {
  for (const standby of standbys) await standby.run('SELECT pg_wal_replay_resume()');
  await eventually(async () => (await usedBy(service)) === 2);
}

/** Until the standbys have everything. */
async function caughtUp(): Promise<void> {
  const { rows } = await replication.run('SELECT pg_current_wal_flush_lsn()::text AS at');
  for (const standby of [first, second]) {
    await eventually(async () => {
      const found = await standby.run(`SELECT pg_last_wal_replay_lsn() >= '${rows[0].at}'::pg_lsn AS is`);
      return found.rows[0].is;
    });
  }
}

test('pages, search, exports, tiles and sync are read from the replicas, with the same results as from the primary', async () => {
  const location = newLocation();
  const amina = user('amina');
  const observed = await observe(location);
  const id = observed.body.packet_uuid;
  const { body } = await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: amina });
  const message = { thread_id: body.thread_id, from_user: amina, text: 'leaf rust on the upper terrace' };
  await service.send('POST', '/intake/chat-message', message);
  await eventually(async () => (await service.send('GET', `/sync/packets?limit=1000`)).body.count >= 2);
  await caughtUp();
  const reads: [string, string, object?][] = [
    ['GET', '/packets?limit=10'],
    ['GET', `/packets/${id}`],
    ['GET', '/packets.csv'],
    ['GET', '/packets.geojson'],
    ['GET', '/fields.geojson'],
    ['GET', '/sync/packets'],
    ['GET', `/sync/packets?user_id=${amina}`],
    ['GET', `/chat/threads/${body.thread_id}/messages`],
    ['GET', '/tiles/observations/14/9512/8146.mvt'],
    ['GET', '/tiles/fields/14/9512/8146.mvt'],
    ['GET', '/packets/arrivals?from=2026-03-01'],
    ['POST', '/chat/query', { user_id: amina, keyword: 'rust' }],
    ['POST', '/graph/materialize', {}],
  ];
  const alone = await runningService({}, replication, { role: replication.role });
  onTestFinished(() => alone.stop());
  for (const [method, path, sent] of reads) {
    await eventually(async () => {
      const before = await onReplicas();
      const found = await service.send(method, path, sent);
      expect(found.status, path).toBe(200);
      expect(found.text, path).toBe((await alone.send(method, path, sent)).text);
      return (await onReplicas()) > before;
    });
  }
});

test('an answer to a change has a position, and a read that shows it waits until a replica has replayed it', async () => {
  await pauseReplay(first, second);
  const observed = await observe();
  expect(positionOf(observed)).toMatch(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/);
  const listed = (headers = {}) => service.send('GET', '/packets?limit=1000', undefined, headers);
  const ids = (answer: Answer) =>
    answer.body.packets.map(({ Header }: { Header: { id: string } }) => Header.id);
  await eventually(async () => !ids(await listed()).includes(observed.body.packet_uuid));
  const waiting = listed(after(observed));
  await first.run('SELECT pg_wal_replay_resume()');
  expect(ids(await waiting)).toContain(observed.body.packet_uuid);
  await resumeReplay(first, second);
  await caughtUp();
  await eventually(async () => {
    const before = await onReplicas();
    expect(ids(await listed(after(observed)))).toContain(observed.body.packet_uuid);
    return (await onReplicas()) > before;
  });
});

test('the primary serves a read whose position no replica reaches in time', async () => {
  await pauseReplay(first, second);
  const observed = await observe();
  await eventually(async () => {
    const before = await onPrimary('behind');
    const { text } = await service.send('GET', '/packets.ndjson', undefined, after(observed));
    expect(text).toContain(observed.body.packet_uuid);
    return (await onPrimary('behind')) > before;
  });
  await resumeReplay(first, second);
});

test('the primary serves reads with a position that it never had', async () => {
  const forged = { 'fieldtrace-position': 'FFFFFFFF/FFFFFFFF' };
  await eventually(async () => {
    const before = await onPrimary('behind');
    const reads = Array.from({ length: 30 }, () =>
      service.send('GET', '/packets?limit=1', undefined, forged),
    );
    for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
    return (await onPrimary('behind')) >= before + 30;
  });
});

test('an invalid position is refused by name', async () => {
  for (const wrong of ['x', '1', '0/', '/1', '123456789/1', '0/0 OR 1', '-1/0']) {
    const { status, body } = await service.send('GET', '/packets', undefined, {
      'fieldtrace-position': wrong,
    });
    expect([status, body.error], wrong).toEqual([400, expect.stringMatching(/^fieldtrace-position /i)]);
  }
});

test('every kind of change returns its position, repeated ones too; reads and failures do not', async () => {
  const key = { 'idempotency-key': newUlid() };
  const location = newLocation();
  const stored = await observe(location, key);
  const repeated = await observe(location, key);
  expect(repeated.headers.get('idempotency-replayed')).toBe('true');
  const thread = await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: user('ben') });
  const renamed = await service.send('PATCH', `/chat/threads/${thread.body.thread_id}`, { name: 'Tea' });
  const item = { intake: 'scouting', body: { observed_at: '2026-03-01T08:15:00Z', capture_point: location } };
  const batch = await service.send('POST', '/intake/batch', [item]);
  for (const answer of [stored, repeated, thread, renamed, batch])
    expect(positionOf(answer)).toMatch(/^\w+\/\w+$/);
  const others = [
    await service.send('GET', '/packets?limit=1'),
    await service.send('POST', '/chat/query', { user_id: user('ben') }),
    await service.send('POST', '/intake/scouting', {}),
  ];
  for (const answer of others) expect(positionOf(answer)).toBeNull();
});

test('records that a replica lacks are read from the primary: a packet, the packet of a cursor, a position in the log', async () => {
  await pauseReplay(first, second);
  const observed = await observe();
  const id = observed.body.packet_uuid;
  expect((await service.send('GET', `/packets/${id}`)).body.Header.id).toBe(id);
  expect((await service.send('GET', `/packets?cursor=${id}`)).status).toBe(200);
  const alone = await runningService({}, replication, { role: replication.role });
  onTestFinished(() => alone.stop());
  const { body } = await eventually(
    () => alone.send('GET', '/sync/packets?limit=1000'),
    answer =>
      answer.body.packets.some(
        ({ packet }: { packet: { Header: { id: string } } }) => packet.Header.id === id,
      ),
  );
  const synced = await service.send('GET', `/sync/packets?since=${body.since}`);
  expect([synced.status, synced.body.count]).toEqual([200, 0]);
  await resumeReplay(first, second);
});

test('a sync request that waits gets an entry that no replica has yet', async () => {
  await caughtUp();
  const { body } = await service.send('GET', '/sync/packets?limit=1000');
  await pauseReplay(first, second);
  const next = (since: string) => service.send('GET', `/sync/packets?since=${since}&wait=30`);
  const waiting = next(body.since);
  const observed = await observe();
  let answer = await waiting;
  while (!answer.text.includes(observed.body.packet_uuid)) answer = await next(answer.body.since);
  await resumeReplay(first, second);
});

test('a user who left a thread finds nothing in it, whatever the replicas still have', async () => {
  const [amina, ben] = [user('amina'), user('ben')];
  const { body } = await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: amina });
  const { thread_id } = body;
  await service.send('POST', `/chat/threads/${thread_id}/participants`, { user_ids: [ben] });
  await service.send('POST', '/intake/chat-message', { thread_id, from_user: amina, text: 'a secret' });
  await caughtUp();
  const search = async () =>
    (await service.send('POST', '/chat/query', { user_id: ben, keyword: 'secret' })).body.results.length;
  expect(await search()).toBe(1);
  await pauseReplay(first, second);
  await service.send('DELETE', `/chat/threads/${thread_id}/participants/${ben}`);
  expect(await search()).toBe(0);
  expect((await service.send('GET', `/sync/packets?user_id=${ben}`)).body.count).toBe(0);
  await resumeReplay(first, second);
});

test('a lagging replica gets no reads until it has caught up, and operators see it', async () => {
  const strict = await serviceWith(`${first.url},${second.url}`, { READ_MAX_LAG_SECONDS: '1' });
  onTestFinished(() => strict.stop());
  await pauseReplay(first, second);
  await eventually(async () => {
    await observe();
    return (await usedBy(strict)) === 0;
  });
  expect(strict.log()).toMatch(/"reason":"is too far behind".*"a replica is not serving reads"/);
  expect(await metric(strict, 'replica_lag_seconds')).toBeGreaterThan(1);
  const { body } = await strict.send('GET', '/health/ready');
  expect(body.details).toContainEqual({
    name: 'replicas',
    status: 'LEFT_OUT',
    message: expect.stringContaining('is too far behind'),
  });
  const before = await metric(strict, 'reads_total{server="primary",reason="left_out"');
  expect((await strict.send('GET', '/packets?limit=1')).status).toBe(200);
  expect(await metric(strict, 'reads_total{server="primary",reason="left_out"')).toBe(before + 1);
  await resumeReplay(first, second);
  await eventually(async () => (await usedBy(strict)) === 2);
  expect(strict.log().match(/"a replica is serving reads"/g)?.length).toBeGreaterThan(2);
});

test('reads continue when replicas die, and return to them when they are back', async () => {
  await second.stop();
  await eventually(async () => (await usedBy(service)) === 1);
  await first.stop();
  // Also before the service has found out.
  for (let n = 0; n < 10; n++) expect((await service.send('GET', '/packets?limit=1')).status).toBe(200);
  expect((await service.send('POST', '/graph/materialize', {})).status).toBe(200);
  await eventually(async () => (await usedBy(service)) === 0);
  expect((await service.send('GET', '/packets.csv')).status).toBe(200);
  expect(service.log()).toMatch(/"reason":"is not responding"/);
  await first.start();
  await second.start();
  await eventually(async () => (await usedBy(service)) === 2);
}, 120_000);

test('a statement that was cancelled on a replica by replay runs again on the primary', async () => {
  await replication.run(
    'CREATE TABLE packet_service.trial AS SELECT 1 AS row; GRANT SELECT ON packet_service.trial TO fieldtrace',
  );
  await caughtUp();
  const onReplica = openPool(connectionFromUrl(first.url), 'packet_service', 1, {
    deadline: { ms: 600_000, of: 'statement' },
  });
  const onPrimaryServer = openPool(replication.connection, 'packet_service', 1);
  onTestFinished(async () => {
    await Promise.all([onReplica.end(), onPrimaryServer.end()]);
  });
  const failures: string[] = [];
  const pools = (pool: typeof onReplica) => ({ pool, exports: pool });
  const { database } = fromReplica(pools(onReplica), pools(onPrimaryServer), error => {
    failures.push(errorCode(error));
  });
  // On the replica it waits for a lock.
  const holder = new pg.Client(first.url);
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock(1)');
  const text = 'SELECT pg_is_in_recovery() AS "isReplica", pg_advisory_xact_lock_shared(1) FROM trial';
  const answer = database.query<{ isReplica: boolean }>({ text });
  await eventually(async () => {
    const waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    return (await first.run(waiting)).rowCount === 1;
  });
  await replication.run('BEGIN; LOCK TABLE packet_service.trial IN ACCESS EXCLUSIVE MODE; COMMIT');
  expect((await answer).rows).toEqual([expect.objectContaining({ isReplica: false })]);
  await holder.end();
  expect(failures).toEqual(['40001']);
});

test('the doctor reports the state of replicas without their passwords', async () => {
  const { user, password } = replication.role;
  const gone = `postgres://${user}:${password}@127.0.0.1:1/fieldtrace`;
  const settings = readSettings({
    DATABASE_URL: `postgres://${user}:${password}@127.0.0.1:1/fieldtrace`,
    READ_DATABASE_URL: `${first.url},${second.url.replace('/fieldtrace?', '/postgres?')},${gone}`,
  });
  const connection = { ...replication.connection, ...replication.role };
  const findings = await checkReplicas(settings, { connection });
  expect(findings.map(({ level, message }) => [level, message])).toEqual([
    ['ok', expect.stringMatching(/ is a standby, (not|[\d.]+ \w+) behind$/)],
    ['error', expect.stringMatching(/ belongs to another database than DATABASE_URL$/)],
    ['error', expect.stringMatching(/^127\.0\.0\.1:1 is not responding: /)],
  ]);
  const shown = JSON.stringify([findings, checkSettings(settings, process.env, [])]);
  expect(shown).not.toContain(password);
  const [summary] = checkSettings(settings, { READ_DATABASE_URL: settings.READ_DATABASE_URL }, []);
  const masked = `postgres://${user}:***@`;
  expect(summary?.details).toEqual([
    `READ_DATABASE_URL=${masked}/fieldtrace?…,${masked}/postgres?…,${masked}127.0.0.1:1/fieldtrace`,
  ]);
});

test('a promoted replica, and a standby of another database, get no reads', async () => {
  const other = await replication.standby();
  const reading = await serviceWith(other.url, {}, 1);
  onTestFinished(() => reading.stop());
  await other.run('SELECT pg_promote()');
  await eventually(async () => (await usedBy(reading)) === 0);
  expect(reading.log()).toMatch(/"reason":"is not a standby"/);
  expect((await reading.send('GET', '/packets?limit=1')).status).toBe(200);

  const wrong = await serviceWith(first.url.replace('/fieldtrace?', '/postgres?') as string, {}, 0);
  onTestFinished(() => wrong.stop());
  await eventually(() => /"reason":"is of another database"/.test(wrong.log()));
}, 120_000);
