import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { limiter } from '../../../platform/http/limiter.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { fault } from '../../../platform/http/reasons/catalogue.ts';
import type { Settings } from '../../../platform/settings/settings.ts';

/** Characters of a password (code points). */
export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 128;

/** Argon2id with the parameters of OWASP's password storage cheat sheet: 19 MiB, two passes, parallelism 1. */
export const COST = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const SALT_BYTES = 16;

const deriveTag = promisify(argon2);

/** Hashes and checks passwords, with limited concurrency. */
export interface Passwords {
  /**
   * Hashes a password: Argon2id in PHC string format.
   *
   * @throws Problem unavailable if too many others wait
   */
  hash(password: string): Promise<string>;
  /**
   * Checks a password against a hash. Without a hash, it takes the same time and returns false.
   *
   * @throws Problem unavailable if too many others wait
   */
  check(storedHash: string | undefined, password: string): Promise<boolean>;
}

/** The passwords of one application. */
export function openPasswords(): Passwords {
  // A check takes a core for about 20 ms; more checks than cores at once only slow each other down.
  const limited = limiter({
    full: fault('password.too_many_checks'),
    concurrency: availableParallelism(),
    queue: 200,
  });
  return {
    hash: password => limited(() => hashPassword(password)),
    check: (storedHash, password) => limited(() => checkPassword(storedHash, password)),
  };
}

async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await deriveTag('argon2id', { ...COST, message: bytesOf(password), nonce });
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** The hash for logins to unknown accounts, so that they take the same time. */
const NOBODY = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(
  Buffer.alloc(SALT_BYTES),
)}$${base64(Buffer.alloc(COST.tagLength))}`;

async function checkPassword(storedHash: string | undefined, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, tag] = PHC.exec(storedHash ?? NOBODY) ?? [];
  const expected = Buffer.from(tag as string, 'base64');
  const derived = await deriveTag('argon2id', {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
    message: bytesOf(password),
    nonce: Buffer.from(salt as string, 'base64'),
  });
  return timingSafeEqual(derived, expected) && storedHash !== undefined;
}

/** Normalises the composition of letters (NFKC, NIST SP 800-63B §5.1.1.2). */
function bytesOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'));
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

/**
 * Refuses passwords that are not allowed.
 *
 * @param field name of the request field, for the error
 * @throws Problem invalid
 */
export async function checkPasswordRules(
  password: string,
  field: string,
  { PASSWORD_POLICY }: Pick<Settings, 'PASSWORD_POLICY'>,
): Promise<void> {
  const { length } = [...password];
  if (length < MIN_PASSWORD || length > MAX_PASSWORD) {
    throw new Problem('password.wrong_length', { field, min: MIN_PASSWORD, max: MAX_PASSWORD });
  }
  if (PASSWORD_POLICY === 'strict' && (await commonPasswords()).has(password.toLowerCase())) {
    throw new Problem('password.too_common', { field });
  }
}

let common: Promise<Set<string>> | undefined;

/** Tens of thousands of leaked passwords, loaded on first use. */
function commonPasswords(): Promise<Set<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common']),
  );
  return common;
}
