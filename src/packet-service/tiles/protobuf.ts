/** Writes messages of Protocol Buffers (protobuf.dev/programming-guides/encoding). */
export interface ProtobufWriter {
  /** A field with a varint: an integer from 0 to 2^53 − 1. */
  varint(field: number, value: number): void;
  double(field: number, value: number): void;
  text(field: number, value: string): void;
  /** A field with packed varints. */
  packed(field: number, values: readonly number[]): void;
  message(field: number, content: Uint8Array): void;
  end(): Buffer;
}

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_PREFIXED = 2;

export function protobufWriter(): ProtobufWriter {
  let bytes = Buffer.allocUnsafe(256);
  let length = 0;

  function reserve(more: number): void {
    if (length + more <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, length + more));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  }

  function put(value: number): void {
    reserve(8);
    let rest = value;
    while (rest > 127) {
      bytes[length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    bytes[length++] = rest;
  }

  function prefixed(field: number, size: number): void {
    put(field * 8 + LENGTH_PREFIXED);
    put(size);
    reserve(size);
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
      prefixed(field, Buffer.byteLength(value));
      length += bytes.write(value, length);
    },
    packed(field, values) {
      prefixed(
        field,
        values.reduce((size, value) => size + sizeOf(value), 0),
      );
      for (const value of values) put(value);
    },
    message(field, content) {
      prefixed(field, content.length);
      bytes.set(content, length);
      length += content.length;
    },
    end: () => bytes.subarray(0, length),
  };
}

/** Bytes of a varint. */
function sizeOf(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}
