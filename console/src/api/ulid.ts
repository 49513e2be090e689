const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;

/** An id for a file: att_ and a ULID. */
export function newAttachmentId(now = Date.now()): string {
  let time = '';
  for (let rest = now; time.length < TIME_DIGITS; rest = Math.floor(rest / 32))
    time = DIGITS[rest % 32] + time;
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS));
  return `att_${time}${Array.from(random, byte => DIGITS[byte % 32]).join('')}`;
}

/** A key under which a request is stored once, however often it is sent. */
export function newKey(): string {
  return newAttachmentId().replace('att', 'console');
}
