import { prefersPage, sendHtml, varyOf } from '../../../platform/http/page.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { VERSION } from '../../../platform/version.ts';
import { startPageSchema } from './schemas.ts';
import { startPage } from './start-page.ts';

const ABOUT = JSON.stringify({
  service: 'packet-service',
  version: VERSION,
  documentation: '/docs',
  definition: '/openapi.json',
  graph: '/graph',
  health: '/health',
});

/** GET /, which says what the service is. */
export function registerStartPage(app: Server): void {
  const page = startPage(VERSION);
  app.get('/', { schema: startPageSchema, config: { open: true } }, async (request, reply) => {
    reply.header('vary', varyOf(reply));
    return prefersPage(request.headers.accept) ? sendHtml(reply, page) : sendText(reply, ABOUT);
  });
}
