import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from './problems.ts';

const gzip = promisify(gunzip);

/** How bodies may be encoded (RFC 9110 §8.4.1), and what reads them. */
const DECODERS = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', promisify(inflate)],
]);

/** Accept-Encoding of an answer that refuses an encoding (RFC 9110 §15.5.16). */
export const READABLE_ENCODINGS = 'gzip, deflate';

/** Whether a request's body is not sent as it is. */
export function isEncoded({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity';
}

/**
 * A body as it was before its Content-Encoding. What comes out is bounded as a body that is sent as it is, and not held
 * in memory beyond that.
 *
 * @throws Problem unsupported_media_type, unreadable, too_large
 */
export async function decodeBody(request: FastifyRequest, bytes: Buffer): Promise<Buffer> {
  if (!isEncoded(request)) return bytes;
  const encoding = (request.headers['content-encoding'] as string).toLowerCase();
  const decode = DECODERS.get(encoding);
  if (!decode) {
    throw new Problem('body.unknown_encoding', { choices: READABLE_ENCODINGS });
  }
  const { bodyLimit } = request.routeOptions;
  try {
    const decoded = await decode(bytes, { maxOutputLength: bodyLimit });
    request.holdBody?.(decoded.length);
    return decoded;
  } catch (error) {
    if (error instanceof Problem) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Problem('body.too_large_decoded', { max: bodyLimit });
    }
    throw new Problem('body.not_decodable', { encoding }, { cause: error });
  }
}

/** Refuses encoded bodies where the bytes themselves are what is kept. */
export async function refuseEncodings(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!isEncoded(request)) return;
  reply.header('accept-encoding', 'identity');
  throw new Problem('body.encoding_refused');
}
