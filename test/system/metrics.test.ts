import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupSettings } from '../helpers/backup.ts';
import { asService, type TestDatabase, testDatabase } from '../helpers/database.ts';
import { programPath, testWith } from '../helpers/debian.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type RunningProcess, startProcess } from '../helpers/process.ts';
import { sender } from '../helpers/service.ts';
import { otherClient } from '../helpers/writes.ts';

const root = path.resolve(import.meta.dirname, '../..');
const ALERTS = 'deploy/prometheus/alerts.yaml';
const testWithPromtool = await testWith('promtool');

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

let files: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let service: RunningProcess;
beforeAll(async () => {
  files = await temporaryFolder();
  database = await testDatabase();
  const { host, port, user, password, database: name } = asService(database.connection);
  service = await startProcess({
    ...backupSettings(files.folder, path.join(files.folder, '../', `${path.basename(files.folder)}-target`)),
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    ASSET_REGISTRY_URL: 'http://127.0.0.1:1/',
    SLOW_STATEMENT_MILLISECONDS: '200',
  });
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await database.drop();
  await files.remove();
});

const scrape = async (url: string) => (await sender(url)('GET', '/metrics')).text;

interface Described {
  type: string;
  help: string;
  services: string[];
}

/** The metrics of both services by name, without those of Node and of the process. */
async function metricsOf(): Promise<Map<string, Described>> {
  const found = new Map<string, Described>();
  for (const [name, url] of [
    ['packet', service.url],
    ['trace', service.traceUrl],
  ] as const) {
    const text = await scrape(url);
    for (const [, metric = '', help = '', type = ''] of text.matchAll(
      /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm,
    )) {
      if (/^(process|nodejs)_/.test(metric)) continue;
      const known = found.get(metric);
      found.set(metric, { type, help, services: [...(known?.services ?? []), name] });
    }
  }
  return found;
}

test('docs/operations.md has a table of every metric of both services', async () => {
  const rows = [...(await metricsOf())]
    .map(([name, { type, help, services }]) => {
      const where = services.length === 2 ? 'both' : services[0];
      return `| \`${name}\` | ${type} | ${where} | ${help.replaceAll('|', '\\|')} |`;
    })
    .sort();
  const text = await readFile(path.join(root, 'docs/operations.md'), 'utf8');
  const table = text.slice(text.indexOf('| metric | type |')).split('\n\n')[0]?.split('\n').slice(2);
  expect(table).toEqual(rows);
});

/** Every name of a metric in an expression: what is no function, label, grouping or keyword. */
function namesIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|without) \([^)]*\)/g, '');
  return [...bare.matchAll(/[a-z_][a-z0-9_]*(?!\w|\s*\()/g)]
    .map(([name]) => name)
    .filter(name => !['and', 'or', 'unless', 'up'].includes(name));
}

test('every metric of an alert or the dashboard exists with the labels it uses', async () => {
  const alerts = await readFile(path.join(root, ALERTS), 'utf8');
  const dashboard = JSON.parse(await readFile(path.join(root, 'deploy/grafana/dashboard.json'), 'utf8'));
  const expressions = [
    ...[...alerts.matchAll(/^ +expr: '(.*)'$/gm)].map(([, text = '']) => text),
    ...dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) =>
      panel.targets.map(({ expr }) => expr),
    ),
  ];
  expect(expressions.length).toBeGreaterThan(50);
  expect(alerts.match(/- alert: /g)).toHaveLength(alerts.match(/ expr: /g)?.length ?? 0);
  const text = (await Promise.all([service.url, service.traceUrl].map(scrape))).join('\n');
  const known = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map(end => name + end) : [name],
    ),
  );
  for (const expression of expressions) {
    const names = namesIn(expression);
    if (!/^up\b/.test(expression)) expect(names.length, expression).toBeGreaterThan(0);
    for (const name of names) expect(known, expression).toContain(name);
    for (const [, metric, label] of expression.matchAll(/(\w+)\{(\w+)=/g)) {
      if (metric !== 'up')
        expect(text, expression).toMatch(new RegExp(`^${metric}(_total)?\\{.*\\b${label}="`, 'm'));
    }
  }
});

testWithPromtool('promtool accepts the alert rules', () => {
  const output = execFileSync(programPath('promtool'), ['check', 'rules', ALERTS], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(output).toMatch(/SUCCESS: \d\d rules found/);
});

/** The value of a metric with some labels. */
async function sampleOf(name: string, labels = ''): Promise<number> {
  const line = new RegExp(`^${name}\\{[^}]*${labels}[^}]*\\} (\\S+)$`, 'm').exec(await scrape(service.url));
  return Number(line?.[1]);
}

test('batches, the log, pools and a registry that is down are measured', async () => {
  const failed = await service.send('POST', '/intake/scouting', observation);
  expect([failed.status, failed.text]).toEqual([400, expect.stringContaining('the asset registry')]);
  await eventually(async () => {
    await service.send('POST', '/intake/scouting', observation);
    return (await sampleOf('outbound_breaker_open', 'system="asset registry"')) === 1;
  });
  expect(service.log()).toContain('the asset registry is down');
  const thread = await service.send('POST', '/chat/threads', { name: 'harvest', created_by: 'ana' });
  const before = await sampleOf('writer_batch_packets_count');
  const sent = await service.send('POST', '/intake/chat-message', {
    thread_id: thread.body.thread_id,
    from_user: 'ana',
    text: 'habari',
  });
  expect(sent.status, sent.text).toBe(201);
  expect(await sampleOf('writer_batch_packets_count')).toBe(before + 1);
  expect(await sampleOf('writer_batch_seconds_count')).toBe(before + 1);
  expect(await sampleOf('writer_waiting_packets')).toBe(0);
  await eventually(async () => (await sampleOf('log_position')) >= 1);
  expect(await sampleOf('log_outbox_age_seconds')).toBeLessThan(60);
  expect(await sampleOf('database_connections_max', 'pool="requests"')).toBe(10);
  expect(await sampleOf('fieldtrace_build_info', 'version="')).toBe(1);
  await eventually(async () => (await sampleOf('disk_free_bytes')) > 0);
  await eventually(async () => (await sampleOf('dead_letters')) === 0);
  await eventually(async () => (await sampleOf('jobs_waiting', 'queue="mail"')) === 0);
});

test('a slow statement is logged by its name, without its values', async () => {
  const other = await otherClient(database);
  await other.query('BEGIN');
  await other.query('LOCK TABLE packets');
  const reading = service.send('GET', '/packets?geoid=hunter2');
  await eventually(async () => {
    const { rows } = await database.pool.query(`
      SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
        AND clock_timestamp() - query_start > interval '300 ms'`);
    return rows.length > 0;
  });
  await other.query('ROLLBACK');
  await other.end();
  expect((await reading).status).toBe(200);
  const slow = () =>
    service
      .log()
      .split('\n')
      .filter(text => text.includes('"slow statement"'))
      .map(text => JSON.parse(text));
  const ofRequest = await eventually(() =>
    slow().find(({ pool, statement }) => pool === 'requests' && statement.includes('packets')),
  );
  expect(ofRequest).toMatchObject({ level: 'warn', service: 'packet-service' });
  for (const { statement, milliseconds } of slow()) {
    expect(statement).toMatch(/^([a-z_\d]+|[A-Z]+( [a-z_., ]+)? [0-9a-f]{8})$/);
    expect(milliseconds).toBeGreaterThanOrEqual(200);
  }
  expect(service.log()).not.toContain('hunter2');
  expect(await sampleOf('slow_statements_total')).toBeGreaterThan(0);
});
