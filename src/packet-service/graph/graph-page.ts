import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyReply } from 'fastify';
import type { Server } from '../../platform/http/server.ts';
import { graphPageSchema } from './schemas.ts';

const POLICY =
  "default-src 'none'; connect-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const require = createRequire(import.meta.url);
const here = (name: string) => new URL(`./page/${name}`, import.meta.url);

/** What the page is made of: all of it comes from here, so it works where there is no other network. */
const FILES = [
  { path: '/graph', file: here('index.html'), type: 'text/html; charset=utf-8' },
  { path: '/graph/page.css', file: here('page.css'), type: 'text/css; charset=utf-8' },
  { path: '/graph/page.js', file: here('page.js'), type: 'text/javascript; charset=utf-8' },
  {
    path: '/graph/cytoscape.js',
    file: require.resolve('cytoscape/dist/cytoscape.min.js'),
    type: 'text/javascript; charset=utf-8',
  },
] as const;

/** The page that draws the graph. It is open; what it draws needs what the export needs. */
export function registerGraphPage(app: Server): void {
  for (const { path, file, type } of FILES) {
    const hidden = path === '/graph' ? graphPageSchema : { hide: true };
    app.get(path, { schema: hidden, config: { open: true } }, async (_request, reply: FastifyReply) =>
      reply
        .headers({
          'cache-control': 'no-cache',
          'content-security-policy': POLICY,
          'referrer-policy': 'no-referrer',
        })
        .type(type)
        .serializer(asIs)
        .send(await readFile(file, 'utf8')),
    );
  }
}

const asIs = (text: unknown) => text as string;
