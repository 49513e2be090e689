import multipart from '@fastify/multipart';
import { Problem } from './problems.ts';
import type { Server } from './server.ts';
import { streamBodies } from './streamed-body.ts';

/** Maximum bytes of a multipart body around its file. */
const FORM_BYTES = 64 * 1024;

/**
 * Makes the routes of a separate context accept multipart forms of one file, as streams. Their body schemas only
 * document them.
 *
 * @param maxBytes of the file
 * @param tooLarge the problem of a larger one, told before it is read where its length is known
 */
export async function takeForms(app: Server, maxBytes: number, tooLarge: () => Problem): Promise<void> {
  streamBodies(app);
  app.removeAllContentTypeParsers();
  await app.register(multipart, {
    // One byte more than is taken, so that a file which is too large is seen to be so.
    limits: { fileSize: maxBytes + 1, files: 2, fields: 10, fieldSize: 1024, parts: 12 },
    throwFileSizeLimit: false,
  });
  app.addHook('onRequest', async ({ headers }) => {
    if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) {
      throw new Problem('body.not_form');
    }
    if (Number(headers['content-length'] ?? 0) > maxBytes + FORM_BYTES) throw tooLarge();
  });
}
