/** Writes messages of Protocol Buffers (protobuf.dev/programming-guides/encoding). */
export interface ProtobufWriter {
  /** A field with a varint: an integer from 0 to 2^53 − 1. */
  varint(field: number, value: number): void;
  double(field: number, value: number): void;
  text(field: number, value: string): void;
  /** A field with packed varints. */
  packed(field: number, values: readonly number[]): void;
  /** A field with a message, whose fields `write` writes. */
  message(field: number, write: () => void): void;
  end(): Buffer;
}

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_PREFIXED = 2;
/** Bytes of the longest varint that is written. */
const LONGEST_VARINT = 8;

export function protobufWriter(): ProtobufWriter {
  let bytes = Buffer.allocUnsafe(4096);
  let length = 0;

  function reserve(more: number): void {
    if (length + more <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, length + more));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  }

  function put(value: number): void {
    reserve(LONGEST_VARINT);
    let rest = value;
    while (rest > 127) {
      bytes[length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    bytes[length++] = rest;
  }

  /** Content whose length is known when it is written: one byte is kept for it, and more are made if it needs them. */
  function prefixed(field: number, write: () => void): void {
    put(field * 8 + LENGTH_PREFIXED);
    const at = length;
    reserve(1);
    length += 1;
    write();
    const end = length;
    const size = end - at - 1;
    const needed = sizeOf(size);
    if (needed > 1) {
      reserve(needed);
      bytes.copyWithin(at + needed, at + 1, end);
    }
    length = at;
    put(size);
    length = at + needed + size;
  }

  return {
    varint(field, value) {
      put(field * 8 + VARINT);
      put(value);
    },
    double(field, value) {
      put(field * 8 + FIXED_64);
      reserve(8);
      length = bytes.writeDoubleLE(value, length);
    },
    text(field, value) {
      put(field * 8 + LENGTH_PREFIXED);
      const size = Buffer.byteLength(value);
      put(size);
      reserve(size);
      length += bytes.write(value, length);
    },
    packed(field, values) {
      prefixed(field, () => {
        for (const value of values) put(value);
      });
    },
    message: prefixed,
    end: () => bytes.subarray(0, length),
  };
}

/** Bytes of a varint. */
function sizeOf(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}
