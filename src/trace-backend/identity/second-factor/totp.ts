import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Validity of a code in seconds, and its digits: the values that every authenticator app supports (RFC 6238 §4, RFC
 * 4226 §5.3).
 */
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Steps before and after the current one whose codes are also accepted, because clocks differ (RFC 6238 §5.2). */
const DRIFT_STEPS = 1;

/**
 * A one-time code by RFC 4226 §5.3: HMAC-SHA-1 over a counter, truncated.
 *
 * @param digits of the code
 */
export function hotp(secret: Buffer, counter: number, digits = DIGITS): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha1', secret).update(message).digest();
  const offset = (mac.at(-1) as number) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The time step of a code (RFC 6238 §4.2), if it is the current step or a neighbour. All candidates are compared, in
 * constant time.
 */
export function stepOf(secret: Buffer, code: string, now: Date): number | undefined {
  const currentStep = Math.floor(now.getTime() / 1000 / STEP_SECONDS);
  const entered = Buffer.from(code);
  let matching: number | undefined;
  for (let step = currentStep - DRIFT_STEPS; step <= currentStep + DRIFT_STEPS; step++) {
    const expected = Buffer.from(hotp(secret, step));
    if (entered.length === expected.length && timingSafeEqual(entered, expected)) matching = step;
  }
  return matching;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Bytes in base32 without padding (RFC 4648 §6); their number is a multiple of five. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map(five => BASE32[Number.parseInt(five, 2)]).join('');
}

/** The URI that authenticator apps read as a QR code (Google Authenticator's key URI format). */
export function keyUri(secret: Buffer, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const parameters = {
    secret: base32(secret),
    issuer,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: STEP_SECONDS,
  };
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `otpauth://totp/${label}?${query.join('&')}`;
}
