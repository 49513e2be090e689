import { hotp } from '../../src/trace-backend/identity/second-factor/totp.ts';
import type { LoggedIn } from './trace.ts';
import { PASSWORD } from './trace.ts';

/** An authenticator app that has read a secret; each code it gives is one that it has not given before. */
export interface Authenticator {
  code(): string;
}

/**
 * @param secret as it is shown for typing, in base32
 * @param first which code it gives first, counted from the present one: one that is accepted has to be new
 */
export function authenticator(secret: string, first = -1): Authenticator {
  const bits = [...secret].map(letter => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2));
  const bytes = bits
    .map(five => five.padStart(5, '0'))
    .join('')
    .match(/.{8}/g) as string[];
  const key = Buffer.from(bytes.map(byte => Number.parseInt(byte, 2)));
  let last = 0;
  return {
    code() {
      last = Math.max(last + 1, Math.floor(Date.now() / 30_000) + first);
      return hotp(key, last);
    },
  };
}

/** Sets a user's second factor up. */
export async function withSecondFactor(
  user: Pick<LoggedIn, 'send'>,
): Promise<{ app: Authenticator; recoveryCodes: string[] }> {
  const begun = await user.send('POST', '/api/user/second_factor/begin', { currentPassword: PASSWORD });
  const app = authenticator(begun.body.data.secret);
  const confirmed = await user.send('POST', '/api/user/second_factor/confirm', { code: app.code() });
  return { app, recoveryCodes: confirmed.body.data.recoveryCodes };
}
