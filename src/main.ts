import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { misspeltSettings } from './doctor/misspelt-settings.ts';
import { greeting } from './greeting.ts';
import { MigrationError } from './platform/database/migrate.ts';
import { passingTrouble } from './platform/database/troubles.ts';
import { EmbeddedPostgresError } from './platform/embedded-postgres/index.ts';
import { openDatabase } from './platform/embedded-postgres/open-database.ts';
import { makeLogger } from './platform/logging/logger.ts';
import { readSettings, type Settings, SettingsError, shortSecrets } from './platform/settings/settings.ts';
import { sendToSupervisor, workerNumber } from './platform/workers/worker.ts';
import { checkPorts } from './ports.ts';
import { warnOfOpenDoors } from './start-warnings.ts';
import { type Running, stopOnSignals } from './stopping.ts';

/** Starts the configured services, and stops them cleanly on SIGTERM, SIGINT and SIGHUP. */
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const worker = workerNumber();
  const logger = makeLogger(settings.LOG_LEVEL, undefined, worker === undefined ? null : { worker });
  if (worker === undefined) {
    warn(settings, logger);
    await checkPorts(settings);
    if (settings.BACKUP_URL)
      (await import('./platform/backup/check-settings.ts')).checkBackupSettings(settings);
  }
  if (worker === undefined && settings.WORKERS > 1) {
    const { supervise } = await import('./supervisor.ts');
    return supervise(settings, logger);
  }

  const opening = openDatabase(settings, logger);
  // Imported while PostgreSQL starts: each takes about half a second.
  const importing = turn().then(() => import('./services.ts'));
  const [opened, imported] = await Promise.allSettled([opening, importing]);
  if (opened.status === 'rejected') throw opened.reason;
  const database = opened.value;
  const running: Running = { servers: [], database };
  const stop = stopOnSignals(running, logger, { drainMs: settings.DRAIN_SECONDS * 1000 });
  try {
    if (imported.status === 'rejected') throw imported.reason;
    const listening = await imported.value.startServices(settings, database, logger, running);
    // Standard output is the log's alone.
    if (worker === undefined) console.error(greeting(settings, listening));
    else sendToSupervisor({ kind: 'ready', listening: { ...listening } });
  } catch (error) {
    await stop();
    throw error;
  }
}

function warn(settings: Settings, logger: Logger): void {
  for (const warning of misspeltSettings(process.env)) logger.warn(warning);
  warnOfOpenDoors(settings, logger);
  for (const name of shortSecrets(settings))
    logger.warn(`${name} is shorter than 32 bytes: set a longer one`);
}

/** The message of a failed start; a stack only for unexpected errors. */
function explain(error: Error & { code?: string }): string {
  const expected = [SettingsError, MigrationError, EmbeddedPostgresError].some(kind => error instanceof kind);
  if (expected) return error.message;
  if (passingTrouble(error) || /^(28|3D)/.test(error.code ?? ''))
    return `DATABASE_URL: ${error.message || error.code}`;
  return error.stack ?? String(error);
}

main().catch((error: Error) => {
  console.error(`fieldtrace cannot start: ${explain(error)}`);
  process.exit(1);
});
