/** Bytes that an output begins with. */
const START_BYTES = 128 * 1024;

/** Bytes that are being written; grown by {@link reserve}, taken by {@link take}. */
export interface Output {
  bytes: Buffer;
  /** where the next byte goes */
  at: number;
}

export function newOutput(): Output {
  return { bytes: Buffer.allocUnsafeSlow(START_BYTES), at: 0 };
}

/** Makes room for more bytes. */
export function reserve(output: Output, bytes: number): void {
  const needed = output.at + bytes;
  if (needed <= output.bytes.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, output.bytes.length * 2));
  output.bytes.copy(larger, 0, 0, output.at);
  output.bytes = larger;
}

/** The bytes written so far, which belong to the caller; the output begins again. */
export function take(output: Output): Buffer {
  const taken = output.bytes.subarray(0, output.at);
  output.bytes = Buffer.allocUnsafeSlow(START_BYTES);
  output.at = 0;
  return taken;
}

/** Copies bytes. Short ranges, which are most, are copied faster by a loop than by a call into C++. */
export function copy(output: Output, from: Buffer, start: number, end: number): void {
  const { bytes, at } = output;
  if (end - start > 64) from.copy(bytes, at, start, end);
  else for (let to = at, next = start; next < end; next++) bytes[to++] = from[next] as number;
  output.at = at + end - start;
}

/** Writes a text of ASCII characters. */
export function writeAscii(output: Output, text: string): void {
  output.at += output.bytes.write(text, output.at, 'latin1');
}
