import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { packetPersonalData } from '../packet-service/maintenance/personal-data/personal-data.ts';
import { type Connection, openPool, withPool } from '../platform/database/database.ts';
import { openFileStore } from '../platform/files/index.ts';
import { Problem } from '../platform/http/problems.ts';
import { makeMailer } from '../platform/mail/mail.ts';
import type { PersonalData, PersonalFile } from '../platform/personal-data/personal-data.ts';
import { zipOf } from '../platform/personal-data/zip.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { namesRegistry } from '../platform/tokens/user-registry.ts';
import { migrateTraceBackend, SCHEMA as TRACE_SCHEMA } from '../trace-backend/app.ts';
import { PROGRAM } from '../trace-backend/base/audit/audit.ts';
import { openPasswords } from '../trace-backend/identity/users/passwords.ts';
import { findUser } from '../trace-backend/identity/users/store.ts';
import { closeAccount, finishErasure } from '../trace-backend/personal-data/erase.ts';
import { personalFiles } from '../trace-backend/personal-data/export.ts';

/** The user of a command, and the service; both if the trace backend is the registry. */
export interface UserCommand {
  connection: Connection;
  /** of the role that owns the tables */
  owner: Connection;
  settings: Settings;
  userId: string;
  service: string | undefined;
}

/**
 * Exports all data about a user into a ZIP file that only its owner can read.
 *
 * @throws Problem invalid, not_found; file system errors if the file cannot be created
 */
export async function exportUser(command: UserCommand, file: string): Promise<string> {
  const { connection, settings, userId } = command;
  return withServices(command, async ({ trace, packet }) => {
    const now = new Date();
    const make = (files: AsyncIterable<PersonalFile>) =>
      pipeline(zipOf(files, now), createWriteStream(file, { mode: 0o600, flags: 'wx' }));
    if (trace === undefined) {
      await make((packet as PersonalData).files(userId));
    } else {
      const exports = openPool(connection, TRACE_SCHEMA, 2, { deadline: { ms: 600_000, of: 'silence' } });
      const files = openFileStore(settings);
      await make(personalFiles({ exports, files, packetServiceData: packet }, trace, now)).finally(() =>
        exports.end(),
      );
    }
    return `all data about the user ${userId} are in ${file}`;
  });
}

/**
 * Erases the personal data of a user.
 *
 * @throws Problem invalid, not_found
 */
export async function eraseUser(command: UserCommand): Promise<string> {
  const { connection, settings, userId } = command;
  return withServices(command, async ({ trace, packet }) => {
    if (trace === undefined) {
      await packet?.erase(userId, []);
    } else {
      const mailer = makeMailer(settings);
      await withPool(connection, TRACE_SCHEMA, async pool => {
        await closeAccount(pool, PROGRAM, trace);
        await finishErasure({ pool, passwords: openPasswords(), mailer, packetServiceData: packet }, trace);
      }).finally(() => mailer.close());
    }
    return `the personal data of the user ${userId} are erased`;
  });
}

interface Services {
  /** the user's id in the trace backend; undefined if only the packet service is used */
  trace: number | undefined;
  packet: PersonalData | undefined;
}

async function withServices<Result>(
  { connection, owner, settings, userId, service }: UserCommand,
  work: (services: Services) => Promise<Result>,
): Promise<Result> {
  if (service === undefined && namesRegistry(settings)) {
    throw new Problem('command.service_not_named');
  }
  if (service !== undefined && service !== 'packet' && service !== 'trace') {
    throw new Problem('command.wrong_service');
  }
  const trace = service === 'packet' ? undefined : await traceUser({ connection, owner, userId });
  const packet = service === 'trace' ? undefined : packetPersonalData(settings, connection);
  try {
    if (service === 'packet' && !(await packet?.isHere())) {
      throw new Problem('command.no_packet_service');
    }
    return await work({ trace, packet });
  } finally {
    await packet?.close();
  }
}

async function traceUser({
  connection,
  owner,
  userId,
}: Pick<UserCommand, 'connection' | 'owner' | 'userId'>): Promise<number> {
  await migrateTraceBackend(connection, owner);
  return withPool(connection, TRACE_SCHEMA, async pool => {
    const user = /^[1-9]\d{0,8}$/.test(userId) ? await findUser(pool, Number(userId)) : undefined;
    if (!user) throw new Problem('command.unknown_user', { id: userId });
    return user.id;
  });
}
