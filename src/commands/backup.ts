import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';
import { migratePacketService, packetServiceLacks } from '../packet-service/app.ts';
import { openBackups } from '../platform/backup/backups.ts';
import { reachOf, readBase, readCatalogue } from '../platform/backup/catalogue.ts';
import { checkBackupSettings } from '../platform/backup/check-settings.ts';
import { beginBackups } from '../platform/backup/context.ts';
import { BackupError } from '../platform/backup/objects/backup-error.ts';
import { openTarget } from '../platform/backup/objects/open-target.ts';
import { openSealing } from '../platform/backup/objects/sealing.ts';
import { listInstances, openVault, type Vault } from '../platform/backup/objects/vault.ts';
import { checkObjects } from '../platform/backup/restore/check.ts';
import { type Restoring, restore } from '../platform/backup/restore/restore.ts';
import { openState } from '../platform/backup/state.ts';
import { type Connection, withPool } from '../platform/database/database.ts';
import { MigrationError } from '../platform/database/migrate.ts';
import { externalDatabase, type OpenDatabase } from '../platform/embedded-postgres/open-database.ts';
import { openFileStore } from '../platform/files/index.ts';
import { type Settings, SettingsError } from '../platform/settings/settings.ts';
import { parseTimestamp } from '../platform/time.ts';
import { migrateTraceBackend, SCHEMA as TRACE_SCHEMA, traceBackendLacks } from '../trace-backend/app.ts';
import { deleteAllSessions } from '../trace-backend/identity/sessions/store.ts';
import { checkTables } from './check-tables.ts';
import { type CommandOptions, recordCommand } from './command-audit.ts';
import { verifyEverything } from './verify.ts';

/** Threads that decrypt. */
const THREADS = 2;
/** Interval of progress messages, in milliseconds. */
const TELL_MS = 1000;
const GIB = 1024 ** 3;

type BothRoles = Pick<OpenDatabase, 'connection' | 'owner'>;

/** Arguments of the commands in this file. */
export interface BackupCommand {
  settings: Settings;
  logger: Logger;
  options: CommandOptions;
}

/** Takes a base backup, and returns when all that it needs is in the target. */
export async function backupNow(
  { settings, logger }: BackupCommand,
  database: Pick<OpenDatabase, 'connection' | 'backup'>,
): Promise<string> {
  const backups = openBackups(settings, database, logger);
  if (!backups) throw new SettingsError('backups need BACKUP_URL: set it first');
  // The service goes on meanwhile.
  setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  try {
    const { id, bytes, externalLsn } = await backups.takeBase();
    if (externalLsn)
      return `backed up files as ${id}; the external database, at ${externalLsn}, needs its own backups`;
    return `base backup ${id} of ${gib(bytes)} is complete`;
  } finally {
    await backups.pause();
    await backups.finish();
  }
}

/** Begins new backups in BACKUP_URL under a new id, where the target has been emptied or replaced. */
export async function backupBegin({ settings }: BackupCommand): Promise<string> {
  const sealing = openSealing(THREADS);
  try {
    const state = openState(settings.DATA_DIR);
    const context = { ...checkBackupSettings(settings), sealing, state };
    const instance = await beginBackups(context);
    return [
      `started new backups in ${context.target.location} as ${instance}: a running service takes the first one within minutes, or run \`fieldtrace backup now\``,
      'older backups are kept; delete their folder when you no longer need them',
    ].join('\n');
  } finally {
    await sealing.close();
  }
}

/** Lists base backups, with the times that each can be restored to. */
export async function backupList({ settings }: BackupCommand): Promise<string> {
  const { target, sealing, backupKey } = open(settings);
  try {
    const lines: string[] = [];
    for (const instance of await listInstances(target)) {
      const vault = await openVault({ target, sealing, backupKey }, instance, { create: false });
      const catalogue = await readCatalogue(vault);
      lines.push(`${instance}, last verified ${catalogue.verified ?? 'never'}`);
      for (const id of catalogue.bases) {
        const base = await readBase(vault, id);
        const what = base.cluster
          ? `${gib(base.bytes)}, restores to ${base.endedAt} … ${reachOf(base, catalogue).toISOString()}`
          : `files only; the database was at ${base.externalLsn}`;
        lines.push(`  ${id}  ${what}`);
      }
    }
    return lines.length > 0 ? lines.join('\n') : `no backups in ${target.location}`;
  } finally {
    await sealing.close();
  }
}

/**
 * Restores into a new DATA_DIR: `--from URL` (BACKUP_URL by default), `--to TIME`, `--into DIR`, `--instance ID`. Ends
 * with 1 if anything differs from what was stored; with `--accept-missing` not for files that could not be restored.
 *
 * @throws Error when there is anything in DIR, or the time cannot be reached
 */
export async function restoreBackup({ settings, logger, options }: BackupCommand): Promise<string> {
  const from = typeof options.from === 'string' ? { ...settings, BACKUP_URL: options.from } : settings;
  if (typeof options.into !== 'string') throw new SettingsError('--into DIR is missing');
  const into = path.resolve(options.into);
  const to = readTime(options.to);
  const { target, sealing, backupKey } = open(from);
  try {
    const instance = await chooseInstance(await listInstances(target), target.location, options.instance);
    const vault = await openVault({ target, sealing, backupKey }, instance, { create: false });
    const files = openFileStore({ ...settings, DATA_DIR: into });
    const { text, mismatches, missing } = await restoreAndVerify(
      { vault, into, to, files, onProgress: printProgress(), onLost: printLost, logger },
      settings,
      database => recordCommand(database.connection, 'restore', options),
    );
    const accepts = options['accept-missing'] === true;
    if (mismatches > 0 || (missing > 0 && !accepts)) process.exitCode = 1;
    const lacking =
      missing > 0 && !accepts
        ? '\nfiles are missing: find an older copy of the backup, or restore with --accept-missing'
        : '';
    return `${text}${lacking}\nstart it with DATA_DIR=${into}`;
  } finally {
    await sealing.close();
  }
}

/** Reads every object, restores the newest state aside, and verifies what was restored. */
export async function verifyBackup({ settings, logger, options }: BackupCommand): Promise<string> {
  const { target, sealing, backupKey } = open(settings);
  const state = openState(settings.DATA_DIR);
  try {
    const own = (
      await readdir(path.resolve(settings.DATA_DIR, 'backup')).catch(() => [] as string[])
    ).includes('instance');
    const wanted = options.instance ?? (own ? await state.instance() : undefined);
    const instance = await chooseInstance(await listInstances(target), target.location, wanted);
    const vault = await openVault({ target, sealing, backupKey }, instance, { create: false });
    const onProgress = printProgress();
    const { objects, bytes, faults } = await checkObjects(vault, part =>
      onProgress('reading every object', part),
    );
    const read = `read ${objects} objects of ${gib(bytes)}`;
    if (faults.length > 0) {
      process.exitCode = 1;
      return `${faults.join('\n')}\n${read}: ${faults.length} faults`;
    }
    const { text, mismatches, missing, base } = await restoreAside(vault, { settings, logger, onProgress });
    if (mismatches + missing > 0) {
      process.exitCode = 1;
      return `${read}\n${text}`;
    }
    const at = new Date().toISOString();
    await vault.putOnce(`verified/${at.replaceAll(/[-:.]/g, '')}`, Buffer.from(base));
    if (own) await state.write('verified', { instance, id: base, at });
    return `${read}\n${text}`;
  } finally {
    await sealing.close();
  }
}

/** A restore into a folder that is removed afterwards. */
async function restoreAside(
  vault: Vault,
  { settings, logger, onProgress }: Pick<Restoring, 'onProgress' | 'logger'> & { settings: Settings },
) {
  const folder = path.resolve(settings.DATA_DIR, 'backup-verification');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o755 });
  try {
    const newest = (await readCatalogue(vault)).bases.at(-1);
    const { bytes } = await readBase(vault, newest as string);
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < bytes * 1.25) {
      throw new BackupError(`not enough space for a restore in ${folder}: it needs ${gib(bytes * 1.25)}`);
    }
    const files = openFileStore({ ...settings, S3_BUCKET: undefined, DATA_DIR: folder });
    return await restoreAndVerify(
      { vault, into: folder, to: undefined, files, onProgress, onLost: printLost, logger },
      settings,
    );
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * Restores, ends every session of the copy, and verifies it.
 *
 * @param record called with the database that was restored, before it is verified
 * @returns `missing`: how many files could not be restored; `mismatches`: what else differs
 */
async function restoreAndVerify(
  restoring: Restoring,
  settings: Settings,
  record: (database: BothRoles) => Promise<void> = async () => {},
): Promise<{ text: string; mismatches: number; missing: number; base: string }> {
  const verify = async (database: BothRoles) => {
    await migratePresent(database);
    await record(database);
    return verifyEverything(database.connection, restoring.files);
  };
  const restored = await restore(restoring, async database => {
    await checkRestored(database.connection);
    await endSessions(database.connection);
    return verify(database);
  });
  const { base, time, files, lost } = restored;
  // With an external database, only the files were backed up.
  const verified =
    restored.finished ??
    (settings.DATABASE_URL ? await verify(externalDatabase(settings.DATABASE_URL, settings)) : undefined);
  const what = time
    ? `restored to ${time.toISOString()} from base backup ${base.id}, and ${files} files`
    : `restored ${files} files of ${base.id}; restore the database at ${base.externalLsn} or later with its own tools`;
  const missingFiles = verified?.missingFiles ?? 0;
  return {
    text: [what, verified?.summary ?? 'nothing verified: set DATABASE_URL'].join('\n'),
    mismatches: (verified?.mismatches ?? 0) - missingFiles,
    // A damaged object may belong to a file that no row names any more, and a row may name a file that was never shipped.
    missing: Math.max(lost, missingFiles),
    base: base.id,
  };
}

/** @throws BackupError if another version has to migrate the database first; MigrationError */
async function checkRestored(connection: Connection): Promise<void> {
  try {
    await checkTables(connection);
  } catch (error) {
    if (!(error instanceof MigrationError) || error.tag === undefined) throw error;
    throw new BackupError(
      `${error.fault}; restore or verify this backup with ${error.tag} (git checkout ${error.tag}), into an empty ` +
        'directory; this version can then start on it (docs/operations.md, "Upgrading from 0.1.0 or before")',
      { cause: error },
    );
  }
}

/** Migrates the services that a database has: a backup may be older than this version. */
async function migratePresent({ connection, owner }: BothRoles): Promise<void> {
  await checkTables(connection);
  if ((await packetServiceLacks(owner))?.length) await migratePacketService(connection, owner);
  if ((await traceBackendLacks(owner))?.length) await migrateTraceBackend(connection, owner);
}

async function endSessions(connection: Connection): Promise<void> {
  if (!(await traceBackendLacks(connection))) return;
  await withPool(connection, TRACE_SCHEMA, pool => deleteAllSessions(pool));
}

function open(settings: Settings) {
  const { BACKUP_KEY } = settings;
  if (BACKUP_KEY === undefined)
    throw new SettingsError('BACKUP_KEY is missing. Set it to the key that these backups were made with.');
  return { target: openTarget(settings), backupKey: BACKUP_KEY, sealing: openSealing(THREADS) };
}

/** @throws Error that lists the instances when it is not clear which is meant */
async function chooseInstance(
  instances: readonly string[],
  location: string,
  wanted: string | boolean | undefined,
): Promise<string> {
  const [only] = instances;
  if (typeof wanted === 'string' && instances.includes(wanted)) return wanted;
  if (only === undefined) throw new SettingsError(`no backups in ${location}`);
  if (typeof wanted !== 'string' && instances.length === 1) return only;
  throw new SettingsError(
    `${location} has several instances; choose one with --instance:\n${instances.join('\n')}`,
  );
}

/** @throws SettingsError */
function readTime(text: string | boolean | undefined): Date | undefined {
  if (typeof text !== 'string') return undefined;
  const time = parseTimestamp(text);
  if (!time) throw new SettingsError('--to must be a time such as 2026-03-01T08:15:00Z');
  return new Date(time.utc);
}

/** Lost files are part of the result, like differences. */
function printLost({ message }: Error): void {
  console.log(`${message}; this file was not restored`);
}

/** Prints progress to standard error, at most once a second and at the end of each step. */
function printProgress(): Restoring['onProgress'] {
  let printedAt = 0;
  let last = '';
  return (what, part) => {
    if (what === last && part < 1 && Date.now() - printedAt < TELL_MS) return;
    [printedAt, last] = [Date.now(), what];
    process.stderr.write(`${what}: ${Math.floor(part * 100)} %\n`);
  };
}

function gib(bytes: number): string {
  return `${(bytes / GIB).toFixed(3)} GiB`;
}
