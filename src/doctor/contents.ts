import { setTimeout as wait } from 'node:timers/promises';
import { packetServiceLacks } from '../packet-service/app.ts';
import {
  JOBS_SCHEMA as PACKET_JOBS,
  QUEUES as PACKET_QUEUES,
} from '../packet-service/collaboration/sharing/notifications/channels.ts';
import { deliveries } from '../packet-service/collaboration/sharing/notifications/store.ts';
import { type LogLook, lookAtLog } from '../packet-service/core/log/look-store.ts';
import { SCHEMA as PACKET_SCHEMA } from '../packet-service/core/pools.ts';
import { type Connection, withPool } from '../platform/database/database.ts';
import { MigrationError } from '../platform/database/migrate.ts';
import { openFileStore } from '../platform/files/index.ts';
import { compareFileStore } from '../platform/files/store-id.ts';
import { lookAtReceiver, receiversOf, troubleOf } from '../platform/metrics/receivers.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { SCHEMA as TRACE_SCHEMA, traceBackendLacks } from '../trace-backend/app.ts';
import { localTime } from '../trace-backend/catalogue/currency/calendar.ts';
import { isRetrieved } from '../trace-backend/catalogue/currency/store.ts';
import { JOBS_SCHEMA as TRACE_JOBS, QUEUES as TRACE_QUEUES } from '../trace-backend/identity/mails/mails.ts';
import { countUnconfirmed } from '../trace-backend/identity/users/store.ts';
import { error, type Finding, ok, warning } from './finding.ts';

/** How far the newest row may be ahead of this clock, in milliseconds: processes' clocks differ a little. */
const AHEAD_MS = 10_000;
/** Age from which a row of the outbox is stuck, in milliseconds; a round takes less than a second. */
const STUCK_MS = 2500;
/** Maximum dead letters counted. */
const MAX_DEAD = 100_000;

/** A service whose tables are to be checked. */
interface Service {
  name: 'packet service' | 'trace backend';
  schema: string;
  lacks: (connection: Connection) => Promise<string[] | undefined>;
  /** the schema of its job queue */
  jobs: string;
  queues: readonly string[];
}

const SERVICES: Service[] = [
  {
    name: 'packet service',
    schema: PACKET_SCHEMA,
    lacks: packetServiceLacks,
    jobs: PACKET_JOBS,
    queues: PACKET_QUEUES,
  },
  {
    name: 'trace backend',
    schema: TRACE_SCHEMA,
    lacks: traceBackendLacks,
    jobs: TRACE_JOBS,
    queues: TRACE_QUEUES,
  },
];

/** The schemas of the services. */
export const SCHEMAS = SERVICES.map(({ schema }) => schema);

/**
 * Whether the tables of the services are up to date.
 *
 * @returns findings, and the schemas that are
 */
export async function checkMigrations(
  connection: Connection,
): Promise<{ findings: Finding[]; current: Set<string> }> {
  const findings: Finding[] = [];
  const current = new Set<string>();
  for (const { name, schema, lacks } of SERVICES) {
    try {
      const lacking = await lacks(connection);
      if (lacking?.length === 0) current.add(schema);
      else if (lacking === undefined) {
        findings.push(warning('migrations', `the ${name} has no tables`, 'its first start creates them'));
      } else {
        const message = `the ${name} lacks ${lacking.join(', ')}`;
        findings.push(warning('migrations', message, 'start it, or run `fieldtrace migrate`'));
      }
    } catch (cause) {
      const { fault, remedy } = describe(cause as Error);
      findings.push(
        error('migrations', fault, remedy ?? 'install the fieldtrace version that created the database'),
      );
    }
  }
  if (current.size === SERVICES.length) findings.push(ok('migrations', 'both services are up to date'));
  return { findings, current };
}

function describe(cause: Error): { fault: string; remedy: string | undefined } {
  return cause instanceof MigrationError ? cause : { fault: cause.message, remedy: undefined };
}

/** Checks the contents of the database: migrations, the log, dead letters, accounts, and whether its files are in the configured store. */
export async function checkContents(
  settings: Settings,
  connection: Connection,
  now: Date,
): Promise<Finding[]> {
  const { findings, current } = await checkMigrations(connection);
  for (const schema of current) findings.push(...(await checkFiles(settings, connection, schema)));
  if (current.has(PACKET_SCHEMA)) findings.push(...(await checkPacketService(connection, now)));
  for (const service of SERVICES.filter(({ schema }) => current.has(schema)))
    findings.push(...(await checkReceivers(settings, connection, service)));
  if (current.has(TRACE_SCHEMA)) findings.push(await checkAccounts(settings, connection));
  return findings;
}

/**
 * Whether the rates of today were retrieved; false also if that cannot be found out.
 *
 * @param connection undefined if the database is not responding
 */
export async function haveTodaysRates(connection: Connection | undefined, now: Date): Promise<boolean> {
  if (!connection) return false;
  return withPool(connection, TRACE_SCHEMA, pool => isRetrieved(pool, localTime(now).day)).catch(() => false);
}

/** Whether mails and webhooks wait for a receiver that takes nothing. */
async function checkReceivers(
  settings: Settings,
  connection: Connection,
  { name, schema, jobs, queues }: Service,
): Promise<Finding[]> {
  return withPool(connection, schema, async pool => {
    const receivers = receiversOf(settings).filter(({ queue }) => queues.includes(queue));
    const states = await Promise.all(receivers.map(receiver => lookAtReceiver(pool, jobs, receiver)));
    return states.flatMap(state => {
      const trouble = troubleOf(state);
      const remedy = `repair it, or correct ${state.setting}; waiting messages are then sent automatically`;
      return trouble ? [error(state.queue, `${name}: ${trouble}`, remedy)] : [];
    });
  });
}

async function checkFiles(settings: Settings, connection: Connection, schema: string): Promise<Finding[]> {
  const files = openFileStore(settings);
  const differs = await withPool(connection, schema, pool => compareFileStore(pool, files));
  if (differs) return [error('files', differs, 'set DATA_DIR or S3_BUCKET, or run `fieldtrace files adopt`')];
  return schema === PACKET_SCHEMA
    ? [ok('files', `${files.location} has the id that the database records`)]
    : [];
}

async function checkPacketService(connection: Connection, now: Date): Promise<Finding[]> {
  return withPool(connection, PACKET_SCHEMA, async pool => {
    const first = await lookAtLog(pool);
    if (first.oldest !== null) await wait(STUCK_MS);
    const second = first.oldest === null ? first : await lookAtLog(pool);
    const dead = await deliveries.countDead(pool, MAX_DEAD);
    return [checkNewest(first, now), checkOutbox(first, second), checkDead(dead)];
  });
}

/** Accounts that no share with their address and no invitation to it reaches. */
async function checkAccounts(settings: Settings, connection: Connection): Promise<Finding> {
  const count = await withPool(connection, TRACE_SCHEMA, countUnconfirmed);
  if (count === 0) return ok('accounts', 'all active users have confirmed their addresses');
  const remedy =
    settings.SMTP_URL === undefined
      ? 'copy a link for each under Administration → Users, and send it to the person'
      : 'ask them to confirm it under Account → Profile';
  const users = count === 1 ? '1 active user has' : `${count} active users have`;
  const message = `${users} not confirmed their address, so shares and invitations to it do not reach them`;
  return warning('accounts', message, remedy);
}

function checkNewest({ clock }: LogLook, now: Date): Finding {
  const ahead = clock === null ? 0 : clock.getTime() - now.getTime();
  if (ahead <= AHEAD_MS) return ok('clock', 'not behind the newest row');
  const message = `is ${Math.round(ahead / 1000)} s behind the newest row: it is wrong, or another clock ran ahead`;
  return warning(
    'clock',
    message,
    'synchronise the clocks (NTP); new messages are listed first again once the clock has caught up',
  );
}

function checkOutbox(first: LogLook, second: LogLook): Finding {
  const { head, waiting } = second;
  if (first.oldest === null) return ok('log', `${head} entries, and the outbox is empty`);
  if (second.oldest !== first.oldest) return ok('log', `${head} entries, ${waiting} more in the outbox`);
  const message = `${waiting} events are stuck in the outbox, so feeds and sync miss them`;
  return error(
    'log',
    message,
    'start a packet service; if one is running, look for locks and long transactions',
  );
}

function checkDead(dead: number): Finding {
  if (dead === 0) return ok('dead letters', 'none');
  const message = `${dead} notifications could not be delivered`;
  return warning('dead letters', message, 'repair the receiver, then run `fieldtrace notifications replay`');
}
