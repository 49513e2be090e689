import type { Readable } from 'node:stream';

/** Bytes of one piece: at most this is lost by a kill -9 during a request, and held in memory per request. */
export const PIECE_BYTES = 2 * 1024 * 1024;

/**
 * Splits a stream into pieces of `size` bytes; the last one may be smaller. If the stream breaks off, the bytes
 * received so far are the last piece, so that no received byte is lost.
 */
export async function* cutPieces(stream: Readable, size: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let held = 0;
  try {
    // The stream is the connection: ending it would end the answer too.
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
    // Reads and discards the rest: otherwise the connection could neither end nor serve another request.
    stream.resume();
  }
  if (held > 0) yield Buffer.concat(chunks);
}
