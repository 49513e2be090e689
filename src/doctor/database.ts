import path from 'node:path';
import { oneRoleWarning } from '../platform/database/check-roles.ts';
import { type Connection, connectionFromUrl, withSession } from '../platform/database/database.ts';
import { readServerFacts, type ServerFacts, unreadableTables } from '../platform/database/server-facts.ts';
import { explainDenied } from '../platform/embedded-postgres/denied.ts';
import { type EmbeddedLook, lookAtEmbedded, NO_DATABASE } from '../platform/embedded-postgres/look.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { error, type Finding, inTime, ok, warning } from './finding.ts';

const OLDEST_VERSION = 150_000;
/** Difference between two clocks above which one of them is wrong, in seconds. */
const CLOCK_SECONDS = 10;
/** A statement of the services that runs longer is stuck or far too slow, in seconds; exports are not counted. */
const LONG_SECONDS = 60;
/** Part of the connections above which requests may soon have to wait. */
const MANY_CONNECTIONS = 0.9;
/** Maximum names in a message. */
const SHOWN = 5;

/** The database of the settings at one moment. */
export interface DatabaseLook {
  embedded: EmbeddedLook;
  /** absent while the database cannot be queried */
  connection?: Connection;
  facts?: ServerFacts;
  /** why the database cannot be queried */
  findings: Finding[];
}

/** Looks for the database, without starting one. */
export async function lookAtDatabase(settings: Settings, now: Date): Promise<DatabaseLook> {
  const { DATABASE_URL, DATA_DIR } = settings;
  let embedded = NO_DATABASE;
  if (DATABASE_URL === undefined) {
    try {
      embedded = lookAtEmbedded(path.resolve(DATA_DIR), now);
    } catch (cause) {
      const { code, message: said, path: deniedPath = DATA_DIR } = cause as NodeJS.ErrnoException;
      const denied = code === 'EACCES' ? explainDenied(deniedPath, path.resolve(DATA_DIR)) : undefined;
      const message = `the embedded server cannot be checked: ${denied?.reason ?? said}`;
      const remedy = denied?.remedy ?? 'run this as the user that runs the service';
      return { embedded, findings: [error('database', message, remedy)] };
    }
    if (embedded.connection === undefined) return { embedded, findings: [notRunning(embedded)] };
  }
  const connection = DATABASE_URL ? connectionFromUrl(DATABASE_URL) : embedded.connection;
  try {
    const facts = await withSession(connection as Connection, readServerFacts);
    return { embedded, connection: connection as Connection, facts, findings: [] };
  } catch (cause) {
    const { message, code } = cause as NodeJS.ErrnoException;
    const name = DATABASE_URL ? 'DATABASE_URL' : 'the embedded server';
    return {
      embedded,
      findings: [error('database', `${name} is not responding: ${message || code}`, remedyOf(code))],
    };
  }
}

function remedyOf(code = ''): string {
  if (code.startsWith('28')) return 'correct the user and password, and check pg_hba.conf';
  if (code === '3D000') return 'create the database, or correct its name in DATABASE_URL';
  if (code.startsWith('53')) return 'raise max_connections, or lower DATABASE_POOL';
  return 'start PostgreSQL, or repair the network to it; services reconnect automatically';
}

function notRunning({ state, connection, major, layout }: EmbeddedLook): Finding {
  if (state === 'gone') {
    const message = `the database of the embedded server is gone from ${layout?.cluster}`;
    return error(
      'database',
      message,
      'mount its disk, or restore a backup (docs/runbooks.md, "Database gone")',
    );
  }
  if (state === 'none') return warning('database', 'no database in DATA_DIR', 'the first start creates it');
  if (state === 'stopped') {
    const message = `the embedded server (PostgreSQL ${major}) is not running, so some checks were skipped`;
    return warning('database', message, 'start a service, which starts it');
  }
  if (state === 'running' && connection === undefined)
    return error('database', 'its password is missing', 'restore DATA_DIR/postgres/password from a copy');
  return error(
    'database',
    'the embedded server is starting, recovering or stopping',
    'wait; see DATA_DIR/postgres/server.log',
  );
}

/** Checks the server: version, durability, clock, connections, crashes. */
export function checkServerFacts({ facts, embedded }: DatabaseLook, now: Date): Finding[] {
  if (!facts) return checkCrashes(embedded);
  const { version, versionNumber, startedAt, role, isSuperuser, readOnly } = facts;
  const uptime = inTime((facts.now.getTime() - startedAt.getTime()) / 1000);
  const findings: Finding[] = [];
  if (versionNumber < OLDEST_VERSION) {
    findings.push(error('database', `PostgreSQL ${version} is too old`, 'use PostgreSQL 15 or newer'));
  } else findings.push(ok('database', `PostgreSQL ${version}, up for ${uptime}, role ${role}`));
  if (isSuperuser) {
    const message = `the services connect as the superuser ${role}`;
    findings.push(warning('privileges', message, 'use two roles (docs/operations.md, "Two roles")'));
  }
  if (readOnly)
    findings.push(
      error('database', 'it is read-only', 'connect to the primary, or make the server writable'),
    );
  return [
    ...findings,
    ...checkDurability(facts),
    ...checkCrashes(embedded),
    checkClock(facts, now),
    checkConnections(facts),
    ...checkLongest(facts),
    ...checkOrphaned(facts, embedded),
  ];
}

function checkDurability(facts: ServerFacts): Finding[] {
  const { fsync, fullPageWrites, synchronousCommit, checksums, checksumFailures } = facts;
  const findings: Finding[] = [];
  if (!fsync)
    findings.push(error('durability', 'fsync is off: a power cut destroys the database', 'set fsync = on'));
  if (synchronousCommit === 'off') {
    const message = 'synchronous_commit is off: a crash loses acknowledged writes';
    findings.push(error('durability', message, 'set synchronous_commit = on'));
  }
  if (!fullPageWrites) {
    const message = 'full_page_writes is off: a power cut can damage pages';
    findings.push(warning('durability', message, 'set full_page_writes = on'));
  }
  if (!checksums) {
    const message = 'data checksums are off: disk damage goes unnoticed';
    findings.push(warning('durability', message, 'stop PostgreSQL and run pg_checksums --enable'));
  }
  if (checksumFailures > 0) {
    const message = `${checksumFailures} pages do not match their checksums: the disk is damaging data`;
    findings.push(
      error(
        'durability',
        message,
        'stop the services, copy DATA_DIR, replace the disk and restore the last backup',
      ),
    );
  }
  if (findings.length > 0) return findings;
  return [ok('durability', 'fsync, full_page_writes, synchronous_commit and data checksums are on')];
}

function checkCrashes({ troubles: { crashes, failedWrites } }: EmbeddedLook): Finding[] {
  const when = (lines: string[]) => {
    const last = `${lines.at(-1)?.slice(0, 19)} UTC`;
    return lines.length === 1
      ? `once in the last 24 hours, at ${last}`
      : `${lines.length} times in the last 24 hours, the last time at ${last}`;
  };
  const findings: Finding[] = [];
  if (crashes.length > 0) {
    const remedy =
      'look for kills by the kernel (out of memory) and disk errors; see DATA_DIR/postgres/server.log';
    findings.push(warning('database', `PostgreSQL was killed or crashed ${when(crashes)}`, remedy));
  }
  if (failedWrites.length > 0) {
    const remedy = 'check whether the disk is or was full; see DATA_DIR/postgres/server.log';
    findings.push(warning('database', `PostgreSQL could not write ${when(failedWrites)}`, remedy));
  }
  return findings;
}

function checkClock({ now: theirs }: ServerFacts, now: Date): Finding {
  const seconds = Math.round((theirs.getTime() - now.getTime()) / 1000);
  if (Math.abs(seconds) <= CLOCK_SECONDS) return ok('clock', 'in sync with the database');
  const message = `is ${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'} the database's clock`;
  return warning('clock', message, 'synchronise the clocks of both machines (NTP)');
}

function checkConnections({ connections, maxConnections }: ServerFacts): Finding {
  const message = `${connections} of ${maxConnections} are in use`;
  if (connections < maxConnections * MANY_CONNECTIONS) return ok('connections', message);
  return warning('connections', message, 'lower DATABASE_POOL, or raise max_connections');
}

function checkLongest({ longest }: ServerFacts): Finding[] {
  if (!longest || longest.seconds < LONG_SECONDS) return [];
  const message = `${longest.statement} has run for ${inTime(longest.seconds)}`;
  return [warning('statements', message, 'look for locks and paused sessions in pg_stat_activity')];
}

/** A server that outlived the processes that use it. */
function checkOrphaned({ supervisors }: ServerFacts, { state }: EmbeddedLook): Finding[] {
  if (state !== 'running' || supervisors.length > 0) return [];
  const message = 'the embedded server runs without a service: its process was killed';
  return [
    error(
      'database',
      message,
      'start the service, which adopts it; look for kills by the kernel (out of memory)',
    ),
  ];
}

/** Whether the services' role has exactly its rights, and the owner's connection works. */
export async function checkPrivileges(
  settings: Pick<Settings, 'DATABASE_URL' | 'DATABASE_OWNER_URL'>,
  { connection, embedded }: DatabaseLook,
  schemas: readonly string[],
): Promise<Finding[]> {
  if (!connection) return [];
  const findings: Finding[] = [];
  const missing = await withSession(connection, client => unreadableTables(client, schemas));
  if (missing.length > 0) {
    const message = `the services' role cannot read ${missing.slice(0, SHOWN).join(', ')}`;
    findings.push(error('privileges', message, 'run `fieldtrace migrate` as the owner, or two-roles.sql'));
  }
  const oneRole = await oneRoleWarning(connection, schemas);
  if (oneRole) findings.push(warning('privileges', oneRole, 'run two-roles.sql'));
  findings.push(...(await checkOwner(settings, embedded)));
  if (findings.length > 0) return findings;
  return [ok('privileges', "the services' role can read the tables and owns none")];
}

async function checkOwner(
  { DATABASE_URL, DATABASE_OWNER_URL }: Pick<Settings, 'DATABASE_URL' | 'DATABASE_OWNER_URL'>,
  embedded: EmbeddedLook,
): Promise<Finding[]> {
  const owner = DATABASE_OWNER_URL ? connectionFromUrl(DATABASE_OWNER_URL) : embedded.owner;
  if (!owner) {
    if (DATABASE_URL !== undefined) return [];
    return [
      error(
        'privileges',
        'the password of the owner is missing',
        'restart the service, which creates a new one',
      ),
    ];
  }
  try {
    await withSession(owner, readServerFacts);
    return [];
  } catch (cause) {
    const { message, code } = cause as NodeJS.ErrnoException;
    const name = DATABASE_OWNER_URL ? 'DATABASE_OWNER_URL' : 'the owner of the tables';
    return [error('privileges', `${name} cannot connect: ${message || code}`, remedyOf(code))];
  }
}
