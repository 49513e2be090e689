import type { FastifyRequest } from 'fastify';
import type { FileStore, Received } from '../../../platform/files/index.ts';
import { Problem } from '../../../platform/http/problems.ts';

/**
 * Receives the one file of a form, in its part `file`; other fields are ignored.
 *
 * @returns the received file, which the caller discards, and its name
 * @throws Problem invalid, unreadable, too_large; then the received file is discarded
 */
export async function receiveFile(
  request: FastifyRequest,
  files: FileStore,
  maxBytes: number,
): Promise<{ received: Received; name: string | undefined }> {
  let received: Received | undefined;
  let name: string | undefined;
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') continue;
      if (part.fieldname !== 'file' || received) throw new Problem('file.not_one', { field: 'file' });
      name = part.filename;
      received = await files.receive(part.file, maxBytes, () => tooLarge(maxBytes));
    }
    if (!received) throw new Problem('file.missing', { field: 'file' });
    if (received.size === 0) throw new Problem('file.empty', { field: 'file' });
    return { received, name };
  } catch (error) {
    await received?.discard();
    // Reads and discards the rest of the body, so that the connection can serve the next request.
    request.raw.unpipe().resume();
    if (error instanceof Problem) throw error;
    throw new Problem('body.incomplete_form', {}, { cause: error });
  }
}

/** The problem of a file that is too large. */
export function tooLarge(maxBytes: number): Problem {
  return new Problem('file.too_large', { max: maxBytes / 1024 ** 2 });
}
