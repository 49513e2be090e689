import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Fault, fault } from '../http/reasons/catalogue.ts';
import { secretHash } from './secret.ts';

/** The scopes of an API key: reading; all that its user may do, except administration; administration too. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

const PREFIX = 'ft_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** Digits of 32 bytes, and of a CRC-32, in base 62. */
const RANDOM_DIGITS = 43;
const CHECK_DIGITS = 6;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The scope that a key for programs needs here. By default `read` for safe methods and `write` for others. With
     * `none` no key counts: these routes need a login.
     */
    keyScope?: Scope | 'none';
  }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The scope that a route needs: the one that it states, else the one of its method. */
export function neededScope(method: string, stated: Scope | 'none' | undefined): Scope | 'none' {
  return stated ?? (SAFE.has(method) ? 'read' : 'write');
}

/** Whether a key with some scopes may be used where one is needed; each scope includes those before it. */
export function allows(scopes: readonly Scope[], needed: Scope | 'none'): boolean {
  if (needed === 'none') return false;
  return scopes.some(scope => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed));
}

/** Why a key cannot be used on a route. */
export function missingScope(needed: Scope | 'none'): Fault {
  return needed === 'none' ? fault('key.not_enough') : fault('key.lacks_scope', { scope: needed });
}

/** A new key: `ft_`, 256 random bits and their CRC-32, both in base 62; and its SHA-256, which is stored. */
export function newApiKey(): { key: string; hash: Buffer } {
  const random = inBase62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), RANDOM_DIGITS);
  const key = `${PREFIX}${random}${checkOf(random)}`;
  return { key, hash: secretHash(key) };
}

/** Whether a bearer token is meant as a key for programs, not as a JWT. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith(PREFIX);
}

/** The SHA-256 of a key; undefined if its checksum is wrong, as after a typo. */
export function apiKeyHash(token: string): Buffer | undefined {
  const random = token.slice(PREFIX.length, PREFIX.length + RANDOM_DIGITS);
  const isWhole = token.length === PREFIX.length + RANDOM_DIGITS + CHECK_DIGITS;
  return isWhole && token.endsWith(checkOf(random)) ? secretHash(token) : undefined;
}

/** Not a secret: anyone can compute it, so comparing it needs no constant time. */
function checkOf(random: string): string {
  return inBase62(BigInt(crc32(random)), CHECK_DIGITS);
}

function inBase62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text.padStart(digits, '0');
}
