import type { BackupCommand } from './commands/backup.ts';
import { checkTables } from './commands/check-tables.ts';
import { recordCommand } from './commands/command-audit.ts';
import { type CommandLine, helpOf, readCommandLine } from './commands/command-line.ts';
import { UsageError } from './commands/commands.ts';
import { migratePacketService } from './packet-service/app.ts';
import { BackupError } from './platform/backup/objects/backup-error.ts';
import { DistributeError } from './platform/database/citus/distribute.ts';
import { MigrationError } from './platform/database/migrate.ts';
import { MoveError } from './platform/database/move/move.ts';
import { EmbeddedPostgresError } from './platform/embedded-postgres/index.ts';
import { type OpenDatabase, openDatabase } from './platform/embedded-postgres/open-database.ts';
import { Problem } from './platform/http/problems.ts';
import { logStream } from './platform/logging/log-stream.ts';
import { makeLogger } from './platform/logging/logger.ts';
import { readSettings, SettingsError } from './platform/settings/settings.ts';
import { VERSION } from './platform/version.ts';
import { migrateTraceBackend } from './trace-backend/app.ts';

/** Exit codes: of a command that failed, and of wrong input. */
const FAILED = 1;
const WRONG_INPUT = 2;

type CommandRequest = Extract<CommandLine, { name: string }>;

async function main(): Promise<void> {
  const request = readCommandLine(process.argv.slice(2));
  if ('print' in request) {
    console.log(request.print === 'version' ? VERSION : helpOf(request.command));
    return;
  }
  const settings = readSettings(process.env);
  // Standard output is for the result of the command only.
  const level = process.env.LOG_LEVEL ? settings.LOG_LEVEL : 'warn';
  const logger = makeLogger(level, logStream(process.stderr.fd));
  const context = { settings, logger, options: request.options };
  console.log(await (request.command.alone?.(context) ?? runOnDatabase(request, context)));
}

/** Runs a command on the database of the settings, and records it in the audit: before its work, and if it fails. */
async function runOnDatabase({ name, command, options }: CommandRequest, context: BackupCommand) {
  command.check?.(context.settings);
  const database = await openDatabase(context.settings, context.logger);
  const { connection, owner, backup } = database;
  const record = async (outcome?: 'failed') => {
    if (command.unrecorded) return;
    await recordCommand(connection, name, options, outcome).catch(error => {
      if (!command.readsOnly || !REFUSED_WRITES.includes(error.code)) throw error;
    });
  };
  try {
    await migrate(database, command.migrates ?? []);
    await record();
    try {
      return await command.run?.({ connection, owner, backup, ...context });
    } catch (error) {
      await record('failed');
      throw error;
    }
  } finally {
    await database.stop();
  }
}

/** SQLSTATE of a role that may not write, and of a server or transaction that is read-only. */
const REFUSED_WRITES = ['42501', '25006'];

async function migrate(
  { connection, owner }: OpenDatabase,
  services: readonly ('packet' | 'trace')[],
): Promise<void> {
  if (services.length > 0) await checkTables(connection);
  if (services.includes('packet')) await migratePacketService(connection, owner);
  if (services.includes('trace')) await migrateTraceBackend(connection, owner);
}

/** A message without a stack for what can be expected to fail. */
function explain(error: Error): string {
  const expected = [
    BackupError,
    DistributeError,
    EmbeddedPostgresError,
    MigrationError,
    MoveError,
    Problem,
  ].some(kind => error instanceof kind);
  if (expected || isWrongInput(error) || 'code' in error || '$metadata' in error) return error.message;
  return error.stack ?? String(error);
}

function isWrongInput(error: Error): boolean {
  if (error instanceof UsageError || error instanceof SettingsError) return true;
  return error instanceof Problem && (error.code === 'invalid' || error.code === 'not_found');
}

main().catch((error: Error) => {
  console.error(`fieldtrace: ${explain(error)}`);
  process.exitCode = isWrongInput(error) ? WRONG_INPUT : FAILED;
});
