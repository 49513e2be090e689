import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const VALUE = new Map([...ALPHABET].map((char, value) => [char, value]));

/** A ULID as clients write it: 26 characters of Crockford's base 32, of which the first holds three bits. */
export const ULID_PATTERN = '^[0-7][0-9A-HJKMNP-TV-Z]{25}$';
const WELL_FORMED = new RegExp(ULID_PATTERN);

export function isUlid(text: string): boolean {
  return WELL_FORMED.test(text);
}

/**
 * Makes ULIDs: 48 bits of Unix milliseconds, then 80 random bits. Within one process every ULID is greater
 * than the one before, also inside one millisecond and when the clock steps back: the random part then counts
 * up. Across processes they are not ordered by commit, so a ULID is never a position in a feed.
 *
 * @param now the clock, in Unix milliseconds
 */
export function ulidFactory(now: () => number = Date.now): () => string {
  const bytes = Buffer.alloc(16);
  let last = -1;
  return () => {
    const time = now();
    if (time > last) {
      last = time;
      randomFillSync(bytes, 6, 10);
      // The top bit stays free, so that counting up never runs out within a millisecond.
      bytes[6] = (bytes[6] as number) & 0x7f;
      bytes.writeUIntBE(time, 0, 6);
    } else {
      for (let at = 15; ; at--) {
        bytes[at] = ((bytes[at] as number) + 1) & 0xff;
        if (bytes[at] !== 0) break;
      }
    }
    return encode(bytes);
  };
}

export const newUlid = ulidFactory();

/**
 * The form that PostgreSQL stores: the same 128 bits written as a uuid, which sorts as the ULID does.
 *
 * @param ulid a well-formed ULID
 */
export function ulidToUuid(ulid: string): string {
  let hex = '';
  let bits = 0;
  let held = 0;
  // 26 characters hold 130 bits; the two leading zero bits fall away with the first nibble's offset.
  for (let at = 0; at < 26; at++) {
    held = (held << 5) | (VALUE.get(ulid[at] as string) as number);
    bits += at === 0 ? 3 : 5;
    while (bits >= 4) {
      bits -= 4;
      hex += ((held >> bits) & 15).toString(16);
    }
    held &= 15;
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The ULID of a uuid as PostgreSQL writes it. */
export function uuidToUlid(uuid: string): string {
  return encode(Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}

function encode(bytes: Buffer): string {
  let text = '';
  let bits = 2;
  let held = 0;
  for (let at = 0; at < 16; at++) {
    held = (held << 8) | (bytes[at] as number);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >> bits) & 31];
    }
    held &= 31;
  }
  return text;
}

/** When the ULID of a uuid was made, by the clock of whoever made it: Unix milliseconds. */
export function uuidTime(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}
