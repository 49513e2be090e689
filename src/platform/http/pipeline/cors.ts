import cors from '@fastify/cors';
import type { Settings } from '../../settings/settings.ts';
import type { Server } from '../server.ts';

/** The headers of an answer that a page's script can read. */
const EXPOSED = [
  'accept-ranges',
  'attachment-id',
  'content-disposition',
  'content-range',
  'date',
  'etag',
  'link',
  'location',
  'fields-left-out',
  'fieldtrace-position',
  'fieldtrace-reason',
  'fieldtrace-truncated',
  'idempotency-replayed',
  'retry-after',
  'tus-extension',
  'tus-max-size',
  'tus-resumable',
  'tus-version',
  'upload-expires',
  'upload-defer-length',
  'upload-length',
  'upload-metadata',
  'upload-offset',
  'x-request-id',
];

/**
 * Lets the web pages of CORS_ORIGINS read answers in a browser (Fetch standard §3.2), with cookies. Without the
 * setting no page of another origin can.
 */
export async function letOriginsIn(
  app: Server,
  { CORS_ORIGINS }: Pick<Settings, 'CORS_ORIGINS'>,
): Promise<void> {
  if (CORS_ORIGINS === undefined) return;
  await app.register(cors, {
    origin: CORS_ORIGINS.split(','),
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED,
    maxAge: 3600,
  });
}
