import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { FileStore, Received } from '../../platform/file-store/index.ts';
import { Problem } from '../../platform/problems.ts';
import type { Server } from '../../platform/server.ts';

/** What a multipart body may have around its file, in bytes. */
const FORM_BYTES = 64 * 1024;

/** Has the routes of a context of its own take multipart forms, as streams. Their body schemas only document them. */
export async function takeForms(app: Server, maxBytes: number): Promise<void> {
  const compile = app.validatorCompiler;
  app.setValidatorCompiler(route =>
    route.httpPart === 'body' || !compile ? () => true : (compile(route) as () => boolean),
  );
  app.removeAllContentTypeParsers();
  await app.register(multipart, {
    // One byte more than is taken, so that a file which is too large is seen to be so.
    limits: { fileSize: maxBytes + 1, files: 2, fields: 10, fieldSize: 1024, parts: 12 },
    throwFileSizeLimit: false,
  });
  app.addHook('onRequest', async ({ headers }) => {
    if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) {
      throw new Problem('unsupported_media_type', 'Content-Type must be multipart/form-data');
    }
    if (Number(headers['content-length'] ?? 0) > maxBytes + FORM_BYTES) throw tooLarge(maxBytes);
  });
}

/**
 * Receives the one file of a form, in its part `file`; other fields are ignored.
 *
 * @returns what is to be discarded, and what the client calls it
 * @throws Problem invalid, unreadable, too_large; nothing is left behind then
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
    // What is left of the body is read and forgotten, so that the connection can serve the next request.
    request.raw.unpipe().resume();
    if (error instanceof Problem) throw error;
    throw new Problem('unreadable', 'the body is not a whole multipart form', { cause: error });
  }
}

function wrongFile(sentence: string): Problem {
  return new Problem('invalid', sentence, { fields: { file: sentence } });
}

function tooLarge(maxBytes: number): Problem {
  return new Problem('too_large', `file is larger than ${maxBytes / 1024 ** 2} MB`);
}
