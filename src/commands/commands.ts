import path from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { migratePacketService } from '../packet-service/app.ts';
import { replayNotifications } from '../packet-service/collaboration/sharing/notifications/replay.ts';
import { SCHEMA as PACKET_SCHEMA } from '../packet-service/core/pools.ts';
import { erasePacket } from '../packet-service/maintenance/erasure/erase.ts';
import { checkBackupSettings } from '../platform/backup/check-settings.ts';
import { withPool } from '../platform/database/database.ts';
import { findBinaries } from '../platform/embedded-postgres/binaries.ts';
import type { OpenDatabase } from '../platform/embedded-postgres/open-database.ts';
import { openFileStore } from '../platform/files/index.ts';
import { adoptFileStore } from '../platform/files/store-id.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { secretBox } from '../platform/tokens/secret-box.ts';
import { migrateTraceBackend, SCHEMA as TRACE_SCHEMA } from '../trace-backend/app.ts';
import { makeKey } from '../trace-backend/base/signing-keys/keys.ts';
import { checkSecrets } from '../trace-backend/base/signing-keys/sealed.ts';
import { rotateServiceToken, serviceToken } from '../trace-backend/base/signing-keys/service-token.ts';
import { importEcbRates } from '../trace-backend/catalogue/currency/import-ecb.ts';
import { createAdmin } from '../trace-backend/identity/administration/first-admin.ts';
import { revokeLeakedKey, setPassword, unlockUser } from './access.ts';
import {
  type BackupCommand,
  backupBegin,
  backupList,
  backupNow,
  restoreBackup,
  verifyBackup,
} from './backup.ts';
import { type CommandOptions, recordedCommands } from './command-audit.ts';
import { runDistribute } from './distribute.ts';
import { doctor, status } from './doctor.ts';
import { move } from './move.ts';
import { closeOldThreads } from './threads.ts';
import { eraseUser, exportUser, type UserCommand } from './user.ts';
import { verifyEverything } from './verify.ts';

/** An invalid command line; the message says what is possible. */
export class UsageError extends Error {}

export interface Command {
  /** the command line, without `fieldtrace` */
  usage: string;
  does: string;
  options: Record<string, { type: 'string' | 'boolean' }>;
  /** options that must be given */
  needs?: readonly string[];
  /** the name of the positional argument, such as a file; passed as an option of this name */
  operand?: string;
  /** the services whose tables it brings up to date first */
  migrates?: readonly ('packet' | 'trace')[];
  /** it changes nothing, so it also runs where the audit cannot be written */
  readsOnly?: boolean;
  /** it is not in the audit */
  unrecorded?: boolean;
  /** refuses settings with which it cannot work, before the database is opened. @throws SettingsError */
  check?: (settings: Settings) => unknown;
  /** it opens databases of its own and not that of the settings */
  alone?: (context: BackupCommand) => Promise<string>;
  /** @returns what to print */
  run?: (context: BackupCommand & Omit<OpenDatabase, 'stop'>) => Promise<string>;
}

function userCommand(
  database: Pick<OpenDatabase, 'connection' | 'owner'>,
  settings: Settings,
  options: CommandOptions,
): UserCommand {
  const service = options.service as string | undefined;
  return { ...database, settings, userId: options.ID as string, service };
}

/** Every command by its name. */
export const commands: Record<string, Command> = {
  start: {
    usage: 'start',
    does: 'starts the services, as npm start does, and runs until SIGTERM, SIGINT or SIGHUP',
    options: {},
    async alone() {
      // The launcher starts src/main.ts, which is the first to load the libraries that are traced.
      throw new UsageError(
        'start the services with npx fieldtrace start, npm start or scripts/fieldtrace.mjs start',
      );
    },
  },
  prepare: {
    usage: 'prepare',
    does: 'completes the installation of the embedded PostgreSQL; run it once as the owner of the folder if the services run as a user who cannot write there',
    options: {},
    async alone() {
      return `PostgreSQL ${findBinaries().version} is installed`;
    },
  },
  'erase packet': {
    usage: 'erase packet ID --reason <text>',
    does: 'permanently erases a packet with its files and search index; its Header and hash remain (docs/decisions/erasure.md)',
    options: { reason: { type: 'string' } },
    needs: ['reason'],
    operand: 'ID',
    migrates: ['packet'],
    async run({ owner, settings, options }) {
      const id = options.ID as string;
      const erasing = { connection: owner, files: openFileStore(settings) };
      const { at, again, words, files } = await erasePacket(erasing, id, options.reason as string);
      if (again) return `packet ${id} was already erased at ${at.toISOString()}`;
      return `erased packet ${id}, ${files} files and ${words} words of the search index; backups keep them until they expire`;
    },
  },
  'notifications replay': {
    usage: 'notifications replay [--id <notification_id>]',
    does: 'retries dead letters: all of them, or one notification',
    options: { id: { type: 'string' } },
    migrates: ['packet'],
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
    needs: ['email'],
    migrates: ['trace'],
    async run({ connection, settings, options }) {
      const password = process.env.FIELDTRACE_PASSWORD || (await promptForSecret('Password: '));
      return withPool(connection, TRACE_SCHEMA, async pool => {
        const admin = await createAdmin(pool, settings, options.email as string, password);
        return `${admin?.email} is now a SYSTEM_ADMIN with id ${admin?.id}`;
      });
    },
  },
  'user unlock': {
    usage: 'user unlock EMAIL',
    does: 'clears failed login attempts so that the user can try again at once, and shows what else can keep the user out',
    options: {},
    operand: 'EMAIL',
    migrates: ['trace'],
    run: ({ connection, options }) =>
      withPool(connection, TRACE_SCHEMA, pool => unlockUser(pool, options.EMAIL as string)),
  },
  'user password': {
    usage: 'user password EMAIL',
    does: "sets a user's password and ends all their sessions and keys; reads the password from the terminal or FIELDTRACE_PASSWORD",
    options: {},
    operand: 'EMAIL',
    migrates: ['trace'],
    async run({ connection, settings, options }) {
      const password = process.env.FIELDTRACE_PASSWORD || (await promptForSecret('Password: '));
      return withPool(connection, TRACE_SCHEMA, pool =>
        setPassword(pool, settings, options.EMAIL as string, password),
      );
    },
  },
  'api-key revoke': {
    usage: 'api-key revoke',
    does: 'revokes an API key (ft_…) that has leaked; reads it from the terminal to keep it out of the shell history',
    options: {},
    migrates: ['trace'],
    async run({ connection }) {
      const key = (await promptForSecret('Key: ')).trim();
      return withPool(connection, TRACE_SCHEMA, pool => revokeLeakedKey(pool, key));
    },
  },
  'keys rotate': {
    usage: 'keys rotate [--now]',
    does: 'signs access tokens with a new key; tokens of the previous keys stay valid until they expire, or end within minutes with --now',
    options: { now: { type: 'boolean' } },
    migrates: ['trace'],
    async run({ connection, settings, options }) {
      const atOnce = options.now === true;
      if (settings.TRACE_JWT_PRIVATE_KEY) {
        throw new UsageError('TRACE_JWT_PRIVATE_KEY is set: change the setting instead');
      }
      const kid = await withPool(connection, TRACE_SCHEMA, async pool => {
        const box = secretBox(settings);
        await checkSecrets(pool, box);
        return makeKey(pool, box, () => true, { atOnce });
      });
      return `new tokens will be signed with ${kid} in ${atOnce ? 'one minute' : 'two minutes'}`;
    },
  },
  'export user': {
    usage: 'export user ID --to FILE.zip [--service packet|trace]',
    does: 'exports all data about a user; ID is the `sub` of their tokens',
    options: { to: { type: 'string' }, service: { type: 'string' } },
    needs: ['to'],
    operand: 'ID',
    async run({ connection, owner, settings, options }) {
      const file = path.resolve(options.to as string);
      return exportUser(userCommand({ connection, owner }, settings, options), file);
    },
  },
  'erase user': {
    usage: 'erase user ID [--service packet|trace]',
    does: 'erases the personal data of a user permanently; packets stay as evidence',
    options: { service: { type: 'string' } },
    operand: 'ID',
    run: ({ connection, owner, settings, options }) =>
      eraseUser(userCommand({ connection, owner }, settings, options)),
  },
  'import ecb-rates': {
    usage: 'import ecb-rates FILE [--force]',
    does: "imports the European Central Bank's history of exchange rates (eurofxref-hist.csv); --force accepts jumps",
    options: { force: { type: 'boolean' } },
    migrates: ['trace'],
    operand: 'FILE',
    async run({ connection, options }) {
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
    migrates: ['trace'],
    async run({ connection, settings, options }) {
      if (settings.SERVICE_TOKEN) {
        throw new UsageError('SERVICE_TOKEN is set: change the setting of both services instead');
      }
      return withPool(connection, TRACE_SCHEMA, pool =>
        rotateServiceToken({ pool, box: secretBox(settings) }, { atOnce: options.now === true }),
      );
    },
  },
  'threads close': {
    usage: 'threads close --before 1.0|TIME',
    does: 'closes threads that were started before the upgrade to 1.0, or before a time, to requests without a token; threads of older versions do not record whether they were created with one (AUTH_MODE=optional)',
    options: { before: { type: 'string' } },
    needs: ['before'],
    migrates: ['packet'],
    run: ({ owner, options }) => closeOldThreads(owner, options.before as string),
  },
  'files adopt': {
    usage: 'files adopt',
    does: 'records in the database that its files are in DATA_DIR/files or S3_BUCKET; all processes must use the same location',
    options: {},
    migrates: ['packet', 'trace'],
    async run({ connection, settings }) {
      const files = openFileStore(settings);
      for (const schema of [PACKET_SCHEMA, TRACE_SCHEMA]) {
        await withPool(connection, schema, pool => adoptFileStore(pool, files));
      }
      return `the files of the database are in ${files.location}`;
    },
  },
  migrate: {
    usage: 'migrate',
    does: 'upgrades the database, as the start of a service does; run it with DATABASE_OWNER_URL, which the services then do not need',
    options: {},
    async run({ connection, owner, settings: { SERVICES } }) {
      const names = [
        ...(SERVICES.includes('trace') ? await migrateTraceBackend(connection, owner) : []),
        ...(SERVICES.includes('packet') ? await migratePacketService(connection, owner) : []),
      ];
      return names.length > 0 ? names.map(name => `ran ${name}`).join('\n') : 'the database is up to date';
    },
  },
  move: {
    usage: 'move --from URL|DIR --to URL|DIR',
    does: 'copies a database into an empty one and compares them; each is the address of a PostgreSQL server or a DATA_DIR. Run it again if it was interrupted',
    options: { from: { type: 'string' }, to: { type: 'string' } },
    needs: ['from', 'to'],
    async alone({ options: { from, to }, logger }) {
      return move({ from: from as string, to: to as string }, logger);
    },
  },
  distribute: {
    usage: 'distribute [--workers host:port,…] [--coordinator host:port] [--shards N] [--dry-run | --status]',
    does: 'distributes packets and messages over the servers of a Citus cluster whose coordinator is DATABASE_URL; without workers the coordinator holds the shards. Stop the services first. Run it again if it was interrupted (docs/scale-out.md)',
    options: {
      workers: { type: 'string' },
      coordinator: { type: 'string' },
      shards: { type: 'string' },
      'dry-run': { type: 'boolean' },
      status: { type: 'boolean' },
    },
    migrates: ['packet'],
    run: ({ owner, settings, options }) =>
      runDistribute(owner, settings, options, (name, range) => readNumber(name, options[name], range)),
  },
  verify: {
    usage: 'verify [--threads N]',
    does: 'hashes every packet and file again and compares the stored hashes and copies; services can keep running. Prints each mismatch, and exits with 1 if there is any',
    options: { threads: { type: 'string' } },
    readsOnly: true,
    async run({ connection, settings, options }) {
      const threads = readNumber('threads', options.threads, { from: 1, to: 64 });
      const { summary, mismatches } = await verifyEverything(connection, openFileStore(settings), threads);
      if (mismatches > 0) process.exitCode = 1;
      return summary;
    },
  },
  'backup now': {
    usage: 'backup now',
    does: 'takes a base backup into BACKUP_URL, whether services run or not, and ends when it is complete',
    options: {},
    check: checkBackupSettings,
    run: ({ connection, backup, ...command }) => backupNow(command, { connection, backup }),
  },
  'backup begin': {
    usage: 'backup begin',
    does: 'starts new backups in BACKUP_URL after the old ones were lost, for example with a disk; keeps any that are still there',
    options: {},
    alone: backupBegin,
  },
  'backup list': {
    usage: 'backup list',
    does: 'lists the backups in BACKUP_URL and the times that they can be restored to',
    options: {},
    alone: backupList,
  },
  'backup verify': {
    usage: 'backup verify [--instance ID]',
    does: 'reads every object in BACKUP_URL, restores the newest state into a temporary folder, starts it and verifies it; exits with 1 if anything differs',
    options: { instance: { type: 'string' } },
    alone: verifyBackup,
  },
  audit: {
    usage: 'audit [--limit N]',
    does: 'lists the commands that operators ran, newest first; /api/audit/list of the trace backend also has them',
    options: { limit: { type: 'string' } },
    unrecorded: true,
    async run({ connection, options }) {
      const limit = readNumber('limit', options.limit, { from: 1, to: 10_000 }) ?? 100;
      const lines = (await recordedCommands(connection, limit)).map(
        ({ at, command, details }) => `${at.toISOString()} ${command} ${JSON.stringify(details)}`,
      );
      return lines.length > 0 ? lines.join('\n') : 'no commands recorded';
    },
  },
  status: {
    usage: 'status',
    does: 'prints the state of services, database, log, notifications, backups and disk in ten lines, with counts and rates',
    options: {},
    alone: status,
  },
  doctor: {
    usage: 'doctor [--json]',
    does: 'checks settings, services, database, privileges, log, files, disk, clock, backups and the external systems in the settings, whether the services run or not, and says what to do; exits with 1 if it finds an error. It changes nothing',
    options: { json: { type: 'boolean' } },
    alone: doctor,
  },
  restore: {
    usage: 'restore --into DIR [--from URL] [--to TIME] [--instance ID] [--accept-missing]',
    does: 'restores a backup into a new DATA_DIR, to the newest state or to a time such as 2026-03-01T08:15:00Z, and verifies it; exits with 1 if anything differs. Damaged files are left out and listed; with --accept-missing they do not count as differences',
    options: {
      into: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      instance: { type: 'string' },
      'accept-missing': { type: 'boolean' },
    },
    needs: ['into'],
    alone: restoreBackup,
  },
  'service-token': {
    usage: 'service-token',
    does: 'prints the SERVICE_TOKEN for an external packet service',
    options: {},
    migrates: ['trace'],
    async run({ connection, settings }) {
      return withPool(connection, TRACE_SCHEMA, pool =>
        serviceToken({ pool, box: secretBox(settings), settings }),
      );
    },
  },
};

/** @throws UsageError */
function readNumber(
  name: string,
  text: string | boolean | undefined,
  { from, to }: { from: number; to: number },
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN;
  if (number >= from && number <= to) return number;
  throw new UsageError(`--${name} must be a whole number from ${from} to ${to}`);
}

/** Reads a line from the terminal without echo, or from a pipe. */
async function promptForSecret(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = process.stdin.isTTY === true;
  if (terminal) process.stderr.write(question);
  const reader = createInterface({ input: process.stdin, output: silent, terminal });
  try {
    for await (const line of reader) return line;
    throw new UsageError('no password was entered');
  } finally {
    reader.close();
    if (terminal) process.stderr.write('\n');
  }
}
