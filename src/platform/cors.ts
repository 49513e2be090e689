import cors from '@fastify/cors';
import type { Server } from './server.ts';
import type { Settings } from './settings.ts';

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
    exposedHeaders: ['etag', 'location', 'retry-after', 'x-request-id', 'upload-offset', 'tus-resumable'],
    maxAge: 3600,
  });
}
