import { readKnownBackups } from '../platform/backup/known-status.ts';
import { readRuns } from '../platform/runs/runs.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { VERSION } from '../platform/version.ts';
import { checkBackups } from './backups.ts';
import { checkContents, haveTodaysRates, SCHEMAS } from './contents.ts';
import { checkDataDir } from './data-dir.ts';
import { checkPrivileges, checkServerFacts, lookAtDatabase } from './database.ts';
import { error, type Finding, ok } from './finding.ts';
import { checkOutside } from './outside.ts';
import { checkReplicas } from './replicas.ts';
import { checkRuns } from './runs.ts';
import { checkConsole, checkPast, checkService, lookAtServices } from './services.ts';
import { checkSettings } from './settings.ts';

/** The settings and connections that the doctor examines. */
export interface Patient {
  settings: Settings;
  environment: Record<string, string | undefined>;
  /** of the start about the settings */
  warnings: readonly string[];
}

/**
 * Examines an installation, whether its services run or not. It changes nothing: it starts and stops no server, takes no
 * lock and writes no file.
 */
export async function examine({ settings, environment, warnings }: Patient, now: Date): Promise<Finding[]> {
  const [services, database] = await Promise.all([lookAtServices(settings), lookAtDatabase(settings, now)]);
  const outside = checkOutside(settings, () => haveTodaysRates(database.connection, now));
  const isExternal = settings.DATABASE_URL !== undefined;
  const { connection } = database;
  return [
    ok(
      'versions',
      `fieldtrace ${VERSION}, Node ${process.versions.node} on ${process.platform} ${process.arch}`,
    ),
    ...checkSettings(settings, environment, warnings),
    ...services.flatMap(look => [...checkService(look), ...checkPast(look, now)]),
    ...checkConsole(settings),
    ...(await carefully('processes', async () => checkRuns(await readRuns(settings.DATA_DIR), now))),
    ...database.findings,
    ...checkServerFacts(database, now),
    ...(await carefully('privileges', () => checkPrivileges(settings, database, SCHEMAS))),
    ...(await carefully('replicas', () => checkReplicas(settings, database))),
    ...(await outside),
    ...(connection ? await carefully('database', () => checkContents(settings, connection, now)) : []),
    ...(await carefully('DATA_DIR', async () => checkDataDir(settings, database.embedded))),
    ...(await carefully('backup', async () =>
      checkBackups(await readKnownBackups(settings, now), isExternal, now),
    )),
  ];
}

/** A check that fails is a finding, too. */
async function carefully(check: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (cause) {
    const { message, code } = cause as NodeJS.ErrnoException;
    return [error(check, `cannot be checked: ${message || code}`, 'fix that first, then run this again')];
  }
}
