import { existsSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { isConsoleBuilt } from '../console/pages.ts';
import { JOBS_SCHEMA as PACKET_JOBS } from '../packet-service/collaboration/sharing/notifications/channels.ts';
import { deliveries } from '../packet-service/collaboration/sharing/notifications/store.ts';
import { lookAtLog } from '../packet-service/core/log/look-store.ts';
import { countPacketsSince } from '../packet-service/core/packets/count-store.ts';
import { SCHEMA as PACKET_SCHEMA } from '../packet-service/core/pools.ts';
import { readKnownBackups } from '../platform/backup/known-status.ts';
import { type Connection, withPool, withSession } from '../platform/database/database.ts';
import { countRows, type RowCount } from '../platform/database/server-facts.ts';
import { countJobs } from '../platform/jobs/store.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { VERSION } from '../platform/version.ts';
import { SCHEMA as TRACE_SCHEMA } from '../trace-backend/app.ts';
import { JOBS_SCHEMA as TRACE_JOBS } from '../trace-backend/identity/mails/mails.ts';
import { checkMigrations } from './contents.ts';
import { diskSpace } from './data-dir.ts';
import { type DatabaseLook, lookAtDatabase } from './database.ts';
import { inBytes, inTime } from './finding.ts';
import { lookAtServices, type ServiceLook, uptimeOf } from './services.ts';

const HOUR_MS = 3600_000;
/** Maximum packets and dead letters counted. */
const MAX_COUNTED = 100_000;

/** How an installation is, in about ten lines with counts and rates. It changes nothing. */
export async function describeStatus(settings: Settings, now: Date): Promise<string> {
  const [services, database] = await Promise.all([lookAtServices(settings), lookAtDatabase(settings, now)]);
  const { connection } = database;
  const contents = connection
    ? await describeContents(connection, now).catch((error: Error) => [`contents: ${error.message}`])
    : [];
  return [
    `fieldtrace: ${VERSION}, Node ${process.versions.node}`,
    ...services.map(look => describeService(look, now)),
    describeDatabase(database, now),
    ...contents,
    ...(await describeBackups(settings, now)),
    describeDisk(settings),
  ].join('\n');
}

function describeService(look: ServiceLook, now: Date): string {
  const { service, url, port, health, metrics } = look;
  const built = service === 'console' && !isConsoleBuilt() ? ', not built' : '';
  if (port === 'unknown') return `${service}: at any free port${built}`;
  if (port !== 'ours') return `${service}: ${port === 'free' ? 'not running' : port} at ${url}${built}`;
  const uptime = uptimeOf(look, now);
  const requests = metrics?.get('http_request_duration_seconds_count') ?? 0;
  const rate =
    uptime === undefined
      ? ''
      : `, up for ${inTime(uptime)}, ${number(requests)} requests (${(requests / Math.max(uptime, 1)).toFixed(1)}/s)`;
  return `${service}: ${health?.status} at ${url}${rate}${built}`;
}

function describeDatabase({ facts, findings }: DatabaseLook, now: Date): string {
  if (!facts) return `database: ${findings.map(({ message }) => message).join('; ')}`;
  const { version, startedAt, databaseBytes, connections, maxConnections } = facts;
  const uptime = inTime((now.getTime() - startedAt.getTime()) / 1000);
  return `database: PostgreSQL ${version}, up for ${uptime}, ${inBytes(databaseBytes)}, ${connections} of ${maxConnections} connections`;
}

async function describeContents(connection: Connection, now: Date): Promise<string[]> {
  const { current } = await checkMigrations(connection);
  const count = (schema: string, table: string) =>
    withSession(connection, client => countRows(client, schema, table));
  const lines: string[] = [];
  if (current.has(PACKET_SCHEMA)) {
    const packets = await count(PACKET_SCHEMA, 'packets');
    lines.push(...(await withPool(connection, PACKET_SCHEMA, pool => describePackets(pool, packets, now))));
  }
  if (current.has(TRACE_SCHEMA)) {
    const [users, companies, products, jobs] = [
      await count(TRACE_SCHEMA, 'users'),
      await count(TRACE_SCHEMA, 'companies'),
      await count(TRACE_SCHEMA, 'products'),
      await withPool(connection, TRACE_SCHEMA, pool => countJobs(pool, TRACE_JOBS)),
    ];
    lines.push(`people: ${rows(users)} users, ${rows(companies)} companies, ${rows(products)} products`);
    lines.push(`emails of the trace backend: ${describeJobs(jobs)}`);
  }
  return lines;
}

async function describePackets(pool: pg.Pool, packets: RowCount, now: Date): Promise<string[]> {
  const recent = await countPacketsSince(pool, new Date(now.getTime() - HOUR_MS), MAX_COUNTED);
  const { head, waiting } = await lookAtLog(pool);
  const dead = await deliveries.countDead(pool, MAX_COUNTED);
  const jobs = await countJobs(pool, PACKET_JOBS);
  return [
    `packets: ${rows(packets)}, ${number(recent)} in the last hour (${(recent / 60).toFixed(1)}/min)`,
    `log: ${number(head)} entries, ${number(waiting)} in the outbox`,
    `notifications: ${describeJobs(jobs)}, ${number(dead)} dead letters`,
  ];
}

function describeJobs(jobs: readonly { waiting: number; active: number }[]): string {
  const sum = (field: 'waiting' | 'active') => jobs.reduce((total, job) => total + job[field], 0);
  return `${number(sum('waiting'))} waiting, ${number(sum('active'))} in progress`;
}

async function describeBackups(settings: Settings, now: Date): Promise<string[]> {
  const known = await readKnownBackups(settings, now);
  if (!known) return ['backup: off (BACKUP_URL is not set)'];
  return [
    `backup: ${known.status}, ${known.message}`,
    `backup target: ${known.location}, instance ${known.instance ?? 'none yet'}, WAL shipped until ${known.shippedAt ?? 'never'}`,
  ];
}

function describeDisk({ DATA_DIR }: Settings): string {
  const folder = path.resolve(DATA_DIR);
  if (!existsSync(folder)) return `disk: ${folder} does not exist`;
  const { free, size } = diskSpace(folder);
  return `disk: ${inBytes(free)} of ${inBytes(size)} free at ${folder}`;
}

const number = (value: number) => Math.round(value).toLocaleString('en');

function rows({ rows: count, isExact }: RowCount): string {
  return isExact ? number(count) : `about ${number(count)}`;
}
