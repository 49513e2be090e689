#!/usr/bin/env node
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import {
  type BackupCommand,
  backupList,
  backupNow,
  restoreBackup,
  status,
  verifyBackup,
} from './backup-commands.ts';
import { move } from './move-command.ts';
import { migratePacketService } from './packet-service/app.ts';
import { erasePacket } from './packet-service/erasure/erase.ts';
import { SCHEMA as PACKET_SCHEMA } from './packet-service/pools.ts';
import { replayNotifications } from './packet-service/sharing/notifications/replay.ts';
import { BackupError } from './platform/backup/backup-error.ts';
import { openFileStore } from './platform/files/index.ts';
import { adoptFileStore } from './platform/files/store-id.ts';
import { Problem } from './platform/http/problems.ts';
import { makeLogger } from './platform/logging/logger.ts';
import { type Connection, withPool } from './platform/postgres/database.ts';
import { EmbeddedPostgresError } from './platform/postgres/embedded/index.ts';
import { MigrationError } from './platform/postgres/migrate.ts';
import { MoveError } from './platform/postgres/move/move.ts';
import { type OpenDatabase, openDatabase } from './platform/postgres/open-database.ts';
import { readSettings, type Settings, SettingsError } from './platform/settings.ts';
import { secretBox } from './platform/tokens/secret-box.ts';
import { createAdmin } from './trace-backend/accounts/administration/first-admin.ts';
import { migrateTraceBackend, SCHEMA as TRACE_SCHEMA } from './trace-backend/app.ts';
import { importEcbRates } from './trace-backend/currency/import-ecb.ts';
import { makeKey } from './trace-backend/keys/keys.ts';
import { checkSecrets } from './trace-backend/keys/sealed.ts';
import { rotateServiceToken, serviceToken } from './trace-backend/keys/service-token.ts';
import { eraseUser, exportUser, type UserCommand } from './user-commands.ts';
import { verifyEverything } from './verify-command.ts';

/** An invalid command line; the message says what is possible. */
class UsageError extends Error {}

interface Command {
  /** the command line, without `fieldtrace` */
  usage: string;
  does: string;
  options: Record<string, { type: 'string' | 'boolean' }>;
  /** the name of the positional argument, such as a file; passed as an option of this name */
  operand?: string;
  /** it opens databases of its own and not that of the settings */
  alone?: (context: BackupCommand) => Promise<string>;
  /** @returns what to print */
  run?: (context: BackupCommand & Pick<OpenDatabase, 'connection' | 'backup'>) => Promise<string>;
}

function userCommand(
  connection: Connection,
  settings: Settings,
  options: Record<string, string | boolean | undefined>,
): UserCommand {
  const service = options.service as string | undefined;
  return { connection, settings, userId: options.ID as string, service };
}

const commands: Record<string, Command> = {
  'erase packet': {
    usage: 'erase packet ID --reason <text>',
    does: 'erases a packet permanently, with its files and search index; Header and hash remain (docs/decisions/erasure.md)',
    options: { reason: { type: 'string' } },
    operand: 'ID',
    async run({ connection, settings, options }) {
      const id = options.ID as string;
      if (!options.reason) throw new UsageError('usage: fieldtrace erase packet ID --reason <text>');
      await migratePacketService(connection);
      const erasing = { connection, files: openFileStore(settings) };
      const { at, again, words, files } = await erasePacket(erasing, id, options.reason as string);
      if (again) return `packet ${id} had already been erased, at ${at.toISOString()}`;
      return `packet ${id} is erased, with ${files} files and ${words} words of the search index; backups keep it until they expire`;
    },
  },
  'notifications replay': {
    usage: 'notifications replay [--id <notification_id>]',
    does: 'delivers dead letters again: all of them, or one notification',
    options: { id: { type: 'string' } },
    run: ({ connection, settings, logger, options }) =>
      withPool(connection, PACKET_SCHEMA, pool => {
        const id = options.id as string | undefined;
        return replayNotifications({ connection, pool }, settings, logger, id);
      }),
  },
  'admin create': {
    usage: 'admin create --email <address>',
    does: 'creates a SYSTEM_ADMIN of the trace backend; reads the password from the terminal or FIELDTRACE_PASSWORD',
    options: { email: { type: 'string' } },
    async run({ connection, settings, options }) {
      if (!options.email) throw new UsageError('usage: fieldtrace admin create --email <address>');
      const password = process.env.FIELDTRACE_PASSWORD || (await askSecret('Password: '));
      await migrateTraceBackend(connection);
      return withPool(connection, TRACE_SCHEMA, async pool => {
        const admin = await createAdmin(pool, settings, options.email as string, password);
        return `${admin?.email} is now a SYSTEM_ADMIN, with the id ${admin?.id}`;
      });
    },
  },
  'keys rotate': {
    usage: 'keys rotate',
    does: 'signs access tokens with a new key; tokens of the previous key stay valid until they expire',
    options: {},
    async run({ connection, settings }) {
      if (settings.TRACE_JWT_PRIVATE_KEY) {
        throw new UsageError('TRACE_JWT_PRIVATE_KEY is set: change the setting instead');
      }
      await migrateTraceBackend(connection);
      const kid = await withPool(connection, TRACE_SCHEMA, async pool => {
        const box = secretBox(settings);
        await checkSecrets(pool, box);
        return makeKey(pool, box);
      });
      return `from two minutes on new tokens are signed with ${kid}`;
    },
  },
  'export user': {
    usage: 'export user ID --to FILE.zip [--service packet|trace]',
    does: 'exports all data about a user; ID is the `sub` of their tokens',
    options: { to: { type: 'string' }, service: { type: 'string' } },
    operand: 'ID',
    async run({ connection, settings, options }) {
      if (!options.to) throw new UsageError('--to FILE.zip is missing');
      const file = path.resolve(options.to as string);
      return exportUser(userCommand(connection, settings, options), file);
    },
  },
  'erase user': {
    usage: 'erase user ID [--service packet|trace]',
    does: 'erases the personal data of a user permanently; packets stay as evidence',
    options: { service: { type: 'string' } },
    operand: 'ID',
    run: ({ connection, settings, options }) => eraseUser(userCommand(connection, settings, options)),
  },
  'import ecb-rates': {
    usage: 'import ecb-rates FILE [--force]',
    does: 'imports the history of exchange rates of the European Central Bank (eurofxref-hist.csv); --force accepts jumps',
    options: { force: { type: 'boolean' } },
    operand: 'FILE',
    async run({ connection, options }) {
      await migrateTraceBackend(connection);
      const force = options.force === true;
      return withPool(connection, TRACE_SCHEMA, pool =>
        importEcbRates(pool, options.FILE as string, { force }),
      );
    },
  },
  'service-token rotate': {
    usage: 'service-token rotate [--now]',
    does: 'creates a new service token and prints it; the previous one stays valid for 24 hours, or ends at once with --now',
    options: { now: { type: 'boolean' } },
    async run({ connection, settings, options }) {
      if (settings.SERVICE_TOKEN) {
        throw new UsageError('SERVICE_TOKEN is set: change the setting of both services instead');
      }
      await migrateTraceBackend(connection);
      return withPool(connection, TRACE_SCHEMA, pool =>
        rotateServiceToken({ pool, box: secretBox(settings) }, { atOnce: options.now === true }),
      );
    },
  },
  'files adopt': {
    usage: 'files adopt',
    does: 'records in the database that its files are in DATA_DIR/files or S3_BUCKET; other processes must use the same',
    options: {},
    async run({ connection, settings }) {
      const files = openFileStore(settings);
      for (const { schema, migrate } of [
        { schema: PACKET_SCHEMA, migrate: migratePacketService },
        { schema: TRACE_SCHEMA, migrate: migrateTraceBackend },
      ]) {
        await migrate(connection);
        await withPool(connection, schema, pool => adoptFileStore(pool, files));
      }
      return `the files of the database are in ${files.place}`;
    },
  },
  move: {
    usage: 'move --from URL|DIR --to URL|DIR',
    does: 'copies a database into an empty one and compares it; each is the address of a PostgreSQL server or a DATA_DIR. It can be repeated after an interruption',
    options: { from: { type: 'string' }, to: { type: 'string' } },
    async alone({ options: { from, to }, logger }) {
      if (!from || !to) throw new UsageError('usage: fieldtrace move --from URL|DIR --to URL|DIR');
      return move({ from: from as string, to: to as string }, logger);
    },
  },
  verify: {
    usage: 'verify [--threads N]',
    does: 'hashes every packet and file again, and compares what is stored beside them; a service may run meanwhile. Prints each mismatch, and ends with 1 when there is one',
    options: { threads: { type: 'string' } },
    async run({ connection, settings, options }) {
      const threads = readThreads(options.threads as string | undefined);
      const { summary, mismatches } = await verifyEverything(connection, openFileStore(settings), threads);
      if (mismatches > 0) process.exitCode = 1;
      return summary;
    },
  },
  'backup now': {
    usage: 'backup now',
    does: 'takes a base backup into BACKUP_URL, beside a service that runs or without one, and ends when it is complete',
    options: {},
    run: ({ connection, backup, ...command }) => backupNow(command, { connection, backup }),
  },
  'backup list': {
    usage: 'backup list',
    does: 'lists what is in BACKUP_URL, and the times that it can be restored to',
    options: {},
    alone: backupList,
  },
  'backup verify': {
    usage: 'backup verify [--instance ID]',
    does: 'reads every object in BACKUP_URL, restores the newest state aside, starts it and verifies it; ends with 1 when anything differs',
    options: { instance: { type: 'string' } },
    alone: verifyBackup,
  },
  status: {
    usage: 'status',
    does: 'prints how old the last backup and the last verified one are',
    options: {},
    alone: status,
  },
  restore: {
    usage: 'restore --into DIR [--from URL] [--to TIME] [--instance ID]',
    does: 'restores a backup, to the newest state or to a time such as 2026-03-01T08:15:00Z, into a new DATA_DIR, and verifies it',
    options: {
      into: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      instance: { type: 'string' },
    },
    alone: restoreBackup,
  },
  'service-token': {
    usage: 'service-token',
    does: 'prints the SERVICE_TOKEN for an external packet service',
    options: {},
    async run({ connection, settings }) {
      await migrateTraceBackend(connection);
      return withPool(connection, TRACE_SCHEMA, pool =>
        serviceToken({ pool, box: secretBox(settings), settings }),
      );
    },
  },
};

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  if (words.length === 0 || words.includes('--help')) {
    console.log(help());
    return;
  }
  const [command, rest] = findCommand(words);
  const options = readOptions(command, rest);
  const settings = readSettings(process.env);
  // Standard output is for the result of the command only.
  const level = process.env.LOG_LEVEL ? settings.LOG_LEVEL : 'warn';
  const logger = makeLogger(level, pino.destination(2));
  if (command.alone) {
    console.log(await command.alone({ settings, logger, options }));
    return;
  }
  const database = await openDatabase(settings, logger);
  try {
    const { connection, backup } = database;
    console.log(await command.run?.({ connection, backup, settings, logger, options }));
  } finally {
    await database.stop();
  }
}

/** @throws UsageError */
function readThreads(text: string | undefined): number | undefined {
  if (text === undefined || /^([1-9]|[1-5]\d|6[0-4])$/.test(text))
    return text === undefined ? text : Number(text);
  throw new UsageError('--threads is a number from 1 to 64');
}

/** Reads a line from the terminal without echo, or from a pipe. */
async function askSecret(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = process.stdin.isTTY === true;
  if (terminal) process.stderr.write(question);
  const reader = createInterface({ input: process.stdin, output: silent, terminal });
  try {
    for await (const line of reader) return line;
    throw new UsageError('no password was given');
  } finally {
    reader.close();
    if (terminal) process.stderr.write('\n');
  }
}

function findCommand(words: string[]): [Command, string[]] {
  for (const [name, command] of Object.entries(commands)) {
    const length = name.split(' ').length;
    if (words.slice(0, length).join(' ') === name) return [command, words.slice(length)];
  }
  throw new UsageError(`there is no command ${words.join(' ')}\n\n${help()}`);
}

function readOptions({ usage, options, operand }: Command, args: string[]) {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: operand !== undefined });
    if (operand !== undefined && positionals.length !== 1) throw new Error(`${operand} is missing`);
    return { ...values, ...(operand && { [operand]: positionals[0] }) } as Record<
      string,
      string | boolean | undefined
    >;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nusage: fieldtrace ${usage}`);
  }
}

function help(): string {
  const lines = Object.values(commands).map(({ usage, does }) => `  fieldtrace ${usage}\n      ${does}`);
  return `usage:\n${lines.join('\n')}\n\nCommands use the same settings, and therefore the same database, as the services.`;
}

main().catch((error: Error) => {
  const expected = [
    UsageError,
    BackupError,
    Problem,
    SettingsError,
    EmbeddedPostgresError,
    MigrationError,
    MoveError,
  ].some(kind => error instanceof kind);
  console.error(
    `fieldtrace: ${expected || 'code' in error || '$metadata' in error ? error.message : error.stack}`,
  );
  process.exitCode = 1;
});
