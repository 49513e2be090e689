import { randomFillSync } from 'node:crypto';

const BASE32 = Buffer.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ');
const HEX = Buffer.from('0123456789abcdef');
const BASE32_VALUE = valuesOf(BASE32);
const HEX_VALUE = valuesOf(HEX);

/** A uuid has dashes before its 4th, 6th, 8th and 10th byte. */
const isDashed = (byte: number) => byte === 4 || byte === 6 || byte === 8 || byte === 10;

// Every packet's id is written in both forms, so both are assembled in this buffer and converted at once:
// concatenating characters costs three times as much, and leaves as much garbage as the packet itself.
const idText = Buffer.alloc(36);
const idBytes = Buffer.alloc(16);

/** A ULID: 26 characters of Crockford's base 32, of which the first holds three bits. */
export const ULID_PATTERN = '^[0-7][0-9A-HJKMNP-TV-Z]{25}$';
const WELL_FORMED = new RegExp(ULID_PATTERN);

export function isUlid(text: string): boolean {
  return WELL_FORMED.test(text);
}

/** The uuid form of a ULID in either case; undefined if the text is none. */
export function parseUlid(text: string): string | undefined {
  const ulid = text.toUpperCase();
  return isUlid(ulid) ? ulidToUuid(ulid) : undefined;
}

/** Random bytes of one ULID, and of how many ULIDs they are made at once, for speed. */
const RANDOM_PART = 10;
const MADE_AT_ONCE = 400;

/** Backward steps of the clock up to which ULIDs keep ascending, in milliseconds. */
const STEP_BACK_MS = 10_000;

/**
 * Makes ULIDs: 48 bits of Unix milliseconds, then 80 random bits. Within one process every ULID is greater than the
 * one before, also inside one millisecond and when the clock steps back by up to 10 s: the random part then counts
 * up. Beyond that, ULIDs follow the clock: otherwise a clock that had been a day ahead would leave ids ahead for a
 * day. Across processes they are not ordered by commit, so a ULID is never a position in a feed.
 *
 * @param now the clock, in Unix milliseconds
 */
export function ulidFactory(now: () => number = Date.now): () => string {
  const bytes = Buffer.alloc(16);
  const random = Buffer.alloc(MADE_AT_ONCE * RANDOM_PART);
  let used = random.length;
  let last = -1;
  return () => {
    const time = now();
    if (time > last || last - time > STEP_BACK_MS) {
      last = time;
      if (used === random.length) {
        randomFillSync(random);
        used = 0;
      }
      random.copy(bytes, 6, used, used + RANDOM_PART);
      used += RANDOM_PART;
      // The top bit stays free, so that counting up never runs out within a millisecond.
      bytes[6] = (bytes[6] as number) & 0x7f;
      bytes.writeUIntBE(time, 0, 6);
    } else {
      for (let at = 15; ; at--) {
        bytes[at] = ((bytes[at] as number) + 1) & 0xff;
        if (bytes[at] !== 0) break;
      }
    }
    return bytesToUlid(bytes);
  };
}

export const newUlid = ulidFactory();

/**
 * The form that PostgreSQL stores: the same 128 bits written as a uuid, which sorts as the ULID does.
 *
 * @param ulid a well-formed ULID
 */
export function ulidToUuid(ulid: string): string {
  let held = 0;
  // 26 characters hold 130 bits; the first one brings only three of its five.
  let bits = -2;
  let byte = 0;
  let to = 0;
  for (let at = 0; at < 26; at++) {
    held = (held << 5) | (BASE32_VALUE[ulid.charCodeAt(at)] as number);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    if (isDashed(byte++)) idText[to++] = 0x2d;
    idText[to++] = HEX[(held >> (bits + 4)) & 15] as number;
    idText[to++] = HEX[(held >> bits) & 15] as number;
    held &= 0xff >> (8 - bits);
  }
  return idText.toString('latin1', 0, to);
}

/** The ULID of a uuid as PostgreSQL writes it. */
export function uuidToUlid(uuid: string): string {
  let at = 0;
  for (let byte = 0; byte < 16; byte++) {
    if (isDashed(byte)) at++;
    const high = HEX_VALUE[uuid.charCodeAt(at++)] as number;
    idBytes[byte] = (high << 4) | (HEX_VALUE[uuid.charCodeAt(at++)] as number);
  }
  return bytesToUlid(idBytes);
}

/** The ULID of 16 bytes. */
export function bytesToUlid(bytes: Buffer): string {
  let bits = 2;
  let held = 0;
  let to = 0;
  for (let at = 0; at < 16; at++) {
    held = (held << 8) | (bytes[at] as number);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      idText[to++] = BASE32[(held >> bits) & 31] as number;
    }
    held &= 31;
  }
  return idText.toString('latin1', 0, to);
}

/** The value of each character of an alphabet, by its code. */
function valuesOf(alphabet: Buffer): Uint8Array {
  const values = new Uint8Array(128);
  alphabet.forEach((code, value) => {
    values[code] = value;
  });
  return values;
}

/** The time in a ULID (uuid form), by the clock of its maker: Unix milliseconds. */
export function uuidTime(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** The first id of a millisecond (uuid form). */
export function firstUuidAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
