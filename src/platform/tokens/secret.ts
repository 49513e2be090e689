import { hash, randomBytes } from 'node:crypto';

/** A secret that is handed out once: 32 random bytes as base64url, and the SHA-256 of that text, which is kept. */
export function newSecret(): { secret: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: secretHash(secret) };
}

export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
