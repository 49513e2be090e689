import type { FastifyRequest } from 'fastify';
import type { FileStore, Received } from '../../../platform/files/index.ts';
import { Problem } from '../../../platform/http/problems.ts';

/**
 * Receives the one file of a form, in its part `file`; other fields are ignored.
 *
 * @returns the received file, which the caller discards, and its name
 * @throws Problem invalid, unreadable, too_large; nothing is kept then
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
      if (part.fieldname !== 'file' || received)
        throw wrongFile('file must be one file, in a part of that name');
      name = part.filename;
      received = await files.receive(part.file, maxBytes, () => tooLarge(maxBytes));
    }
    if (!received) throw wrongFile('file is required, as a file');
    if (received.size === 0) throw wrongFile('file is empty');
    return { received, name };
  } catch (error) {
    await received?.discard();
    // Reads and discards the rest of the body, so that the connection can serve the next request.
    request.raw.unpipe().resume();
    if (error instanceof Problem) throw error;
    throw new Problem('unreadable', 'the body is not a complete multipart form', { cause: error });
  }
}

function wrongFile(sentence: string): Problem {
  return new Problem('invalid', sentence, { fields: { file: sentence } });
}

/** The problem of a file that is too large. */
export function tooLarge(maxBytes: number): Problem {
  return new Problem('too_large', `file is larger than ${maxBytes / 1024 ** 2} MB`);
}
