import type { Readable } from 'node:stream';

/** Bytes of one piece: what a kill -9 in the middle of a request loses, and what a request holds in memory. */
export const PIECE_BYTES = 2 * 1024 * 1024;

/**
 * Cuts what comes into pieces of `size` bytes; the last one is what is left. When the stream breaks off, what
 * had come by then is the last piece: every byte that a bad network let through is kept.
 */
export async function* cutPieces(stream: Readable, size: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let held = 0;
  try {
    // The stream is the connection: ending it would be the end of the answer too.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      let rest = chunk as Buffer;
      while (held + rest.length >= size) {
        const fits = rest.subarray(0, size - held);
        rest = rest.subarray(fits.length);
        yield Buffer.concat([...chunks, fits]);
        chunks = [];
        held = 0;
      }
      if (rest.length > 0) {
        chunks.push(rest);
        held += rest.length;
      }
    }
  } catch (error) {
    if (!stream.errored) throw error;
  } finally {
    // What nobody wants any more is let through: otherwise the connection could neither end nor serve another request.
    stream.resume();
  }
  if (held > 0) yield Buffer.concat(chunks);
}
