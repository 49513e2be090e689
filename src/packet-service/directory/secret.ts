import { hash, randomBytes } from 'node:crypto';

/** How long a secret out of a mail is good for, in days. */
export const SECRET_DAYS = 7;

/** A secret that goes into a mail: 32 random bytes as base64url, and the SHA-256 of that text, which is kept. */
export function newSecret(): { secret: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: secretHash(secret) };
}

export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** When a secret made now ends. */
export function secretEnd(now: Date): Date {
  return new Date(now.getTime() + SECRET_DAYS * 24 * 3600 * 1000);
}
