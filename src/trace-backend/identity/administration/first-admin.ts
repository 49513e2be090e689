import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { writeWhole } from '../../../platform/files/whole-file.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Settings, SettingsError } from '../../../platform/settings/settings.ts';
import { audit, PROGRAM } from '../../base/audit/audit.ts';
import { lockFirstStart } from '../../base/signing-keys/store.ts';
import { checkEmail, NO_MAILBOX } from '../users/email.ts';
import { checkPasswordRules, openPasswords } from '../users/passwords.ts';
import { countSystemAdmins, insertUser, type User } from '../users/store.ts';

/** File in DATA_DIR with the generated address and password of the first administrator. */
export const FIRST_ADMIN_FILE = 'first-admin.txt';

type AdminSettings = Pick<
  Settings,
  'TRACE_ADMIN_EMAIL' | 'TRACE_ADMIN_PASSWORD' | 'PASSWORD_POLICY' | 'DATA_DIR'
>;

/**
 * Creates the first SYSTEM_ADMIN if there is none: the one in the settings, or one with a random password, which is
 * written to a file that only its owner can read.
 *
 * @throws SettingsError if only one of the two settings is set, or the password is not allowed
 */
export async function makeFirstAdmin(
  pool: pg.Pool,
  settings: AdminSettings,
  logger: FastifyBaseLogger,
): Promise<void> {
  const { TRACE_ADMIN_EMAIL: email, TRACE_ADMIN_PASSWORD: password } = settings;
  if ((email === undefined) !== (password === undefined)) {
    throw new SettingsError('TRACE_ADMIN_EMAIL and TRACE_ADMIN_PASSWORD must be set together');
  }
  if ((await countSystemAdmins(pool)) > 0) return;
  const chosen = email ?? NO_MAILBOX;
  const secret = password ?? randomBytes(15).toString('base64url');
  const file = path.resolve(settings.DATA_DIR, FIRST_ADMIN_FILE);
  const created = await orSettingsError(async () =>
    createAdmin(pool, settings, chosen, secret, async database => (await countSystemAdmins(database)) === 0),
  );
  if (!created) return;
  if (password !== undefined) {
    logger.info({ email: chosen }, 'created the first SYSTEM_ADMIN');
    return;
  }
  await mkdir(path.dirname(file), { recursive: true });
  await writeWhole(path.dirname(file), FIRST_ADMIN_FILE, Buffer.from(`${chosen}\n${secret}\n`));
  console.error(`\nThe first administrator is ${chosen}; the password is in ${file}`);
}

async function orSettingsError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid') {
      throw new SettingsError(`TRACE_ADMIN_EMAIL, TRACE_ADMIN_PASSWORD: ${error.message}`);
    }
    throw error;
  }
}

/**
 * Creates an active SYSTEM_ADMIN.
 *
 * @param when called while no other process can create one
 * @returns undefined if `when` returns false
 * @throws Problem invalid for an invalid or registered address, or a password that is not allowed
 */
export async function createAdmin(
  pool: pg.Pool,
  settings: Pick<Settings, 'PASSWORD_POLICY'>,
  email: string,
  password: string,
  when: (database: Database) => Promise<boolean> = async () => true,
): Promise<User | undefined> {
  const address = checkEmail(email, 'email');
  await checkPasswordRules(password, 'password', settings);
  const hash = await openPasswords().hash(password);
  return transaction(pool, async database => {
    await lockFirstStart(database);
    if (!(await when(database))) return undefined;
    const now = new Date();
    const user = await insertUser(database, {
      ...address,
      name: 'First',
      surname: 'Administrator',
      language: 'EN',
      status: 'ACTIVE',
      role: 'SYSTEM_ADMIN',
      password: hash,
      hasFirstPassword: true,
      createdAt: now,
      emailConfirmedAt: now,
    });
    if (!user) throw new Problem('user.named_address_registered', { email: address.email });
    await audit(database, PROGRAM, { action: 'CREATE_SYSTEM_ADMIN', entity: 'user', entityId: user.id });
    return user;
  });
}
