import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { secretHash } from '../../../platform/tokens/secret.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import { limitSecretAttempts } from '../attempts/limits.ts';
import { decideLoginFailure, deleteLoginFailures } from '../attempts/store.ts';
import {
  findSecondFactor,
  listSecrets,
  resealSecondFactor,
  type SecondFactor,
  takeRecoveryCode,
  useStep,
} from './store.ts';
import { base32, stepOf } from './totp.ts';

/** Bytes of a secret: the length of a SHA-1 hash (RFC 4226 §4). */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits, because a code stored as its SHA-256 must be unguessable. */
const RECOVERY_BYTES = 10;

const contextOf = (userId: number) => `second_factors ${userId}`;

export function newFactorSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

export function sealFactor(box: SecretBox, userId: number, secret: Buffer): string {
  return box.seal(secret.toString('base64url'), contextOf(userId));
}

/** Recovery codes for a lost device, printed in groups of four. */
export function newRecoveryCodes(): { codes: string[]; hashes: Buffer[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    (base32(randomBytes(RECOVERY_BYTES)).match(/.{4}/g) as string[]).join('-'),
  );
  return { codes, hashes: codes.map(recoveryHash) };
}

function recoveryHash(code: string): Buffer {
  return secretHash(code.toUpperCase().replace(/[^A-Z2-7]/g, ''));
}

/** The second factor that a user's login must prove; undefined if there is none. */
export async function requiredFactor(database: Database, userId: number): Promise<SecondFactor | undefined> {
  const factor = await findSecondFactor(database, userId);
  return factor?.confirmed ? factor : undefined;
}

/**
 * Uses up a code of a factor, or one of its recovery codes. Wrong codes are counted per account, for all addresses,
 * because their sender knows the password.
 *
 * @throws Problem too_many_requests
 */
export async function proveFactor(
  { pool, box }: { pool: pg.Pool; box: SecretBox },
  factor: SecondFactor,
  code: string,
): Promise<boolean> {
  const { userId } = factor;
  const attempt = await limitSecretAttempts(pool, 'code', userId);
  const secret = Buffer.from(box.open(factor.secret, contextOf(userId)), 'base64url');
  const digits = code.replaceAll(/[\s-]/g, '');
  const isCode = /^\d{6}$/.test(digits);
  const step = isCode ? stepOf(secret, digits, new Date()) : undefined;
  const isAccepted = isCode
    ? step !== undefined && (await useStep(pool, userId, step))
    : await takeRecoveryCode(pool, userId, recoveryHash(code));
  if (isAccepted) await deleteLoginFailures(pool, { account: attempt.account, address: attempt.address });
  else await decideLoginFailure(pool, attempt);
  return isAccepted;
}

/**
 * Uses up a fresh code of a logged-in user's second factor, for changes for which a stolen session must not be enough.
 * Needs none if the user has no factor.
 *
 * @throws Problem unauthenticated with the field code, like a login; too_many_requests
 */
export async function checkFreshCode(
  context: { pool: pg.Pool; box: SecretBox },
  userId: number,
  code: string | undefined,
): Promise<{ wasNeeded: boolean }> {
  const factor = await requiredFactor(context.pool, userId);
  if (!factor) return { wasNeeded: false };
  if (code === undefined) throw new Problem('second_factor.code_required', { field: 'code' });
  if (!(await proveFactor(context, factor, code))) {
    throw new Problem('login.code_wrong', { field: 'code' });
  }
  return { wasNeeded: true };
}

/**
 * Checks that a user still has no second factor, before a change that began without one takes effect. The caller holds
 * the lock of the user's row, which confirming a factor also takes.
 *
 * @throws Problem unauthenticated with the field code
 */
export async function checkNoFactor(database: Database, userId: number): Promise<void> {
  if (await requiredFactor(database, userId)) {
    throw new Problem('second_factor.code_required', { field: 'code' });
  }
}

/** Factors per query during re-encryption. */
const PAGE = 500;

/**
 * Encrypts the secrets of second factors with the current SECRETS_KEY.
 *
 * @throws SettingsError when one cannot be decrypted
 */
export async function sealFactors(pool: pg.Pool, box: SecretBox): Promise<void> {
  let after = 0;
  for (;;) {
    const page = await listSecrets(pool, after, PAGE);
    for (const { userId, secret } of page) {
      const opened = box.open(secret, contextOf(userId));
      if (box.isCurrent(secret)) continue;
      await resealSecondFactor(pool, userId, { from: secret, to: box.seal(opened, contextOf(userId)) });
    }
    if (page.length < PAGE) return;
    after = page.at(-1)?.userId as number;
  }
}
