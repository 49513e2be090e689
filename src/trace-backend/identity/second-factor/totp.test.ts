import { expect, test } from 'vitest';
import { base32, hotp, keyUri, stepOf } from './totp.ts';

const SECRET = Buffer.from('12345678901234567890');

test('codes are those of RFC 4226 (appendix D) and RFC 6238 (appendix B)', () => {
  const counted = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871'];
  expect(counted.map((_, counter) => hotp(SECRET, counter))).toEqual(counted);
  expect(hotp(SECRET, 9)).toBe('520489');
  const timed: [number, string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [seconds, code] of timed) expect(hotp(SECRET, Math.floor(seconds / 30), 8)).toBe(code);
});

test('a code is valid in its own step and the neighbouring ones, and in no other', () => {
  const at = (seconds: number) => stepOf(SECRET, hotp(SECRET, 100), new Date(seconds * 1000));
  expect([2970, 3000, 3029, 3059].map(at)).toEqual([100, 100, 100, 100]);
  expect([2969, 3060].map(at)).toEqual([undefined, undefined]);
  expect(stepOf(SECRET, '', new Date(90_000))).toBeUndefined();
});

test('the URI contains the secret for apps', () => {
  // RFC 4648 §10.
  expect(base32(Buffer.from('fooba'))).toBe('MZXW6YTB');
  expect(base32(SECRET)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  expect(keyUri(SECRET, 'fieldtrace', 'ana+1@example.org')).toBe(
    'otpauth://totp/fieldtrace:ana%2B1%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=fieldtrace&algorithm=SHA1&digits=6&period=30',
  );
});
