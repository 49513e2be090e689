import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyReply } from 'fastify';
import type { Server } from '../../../platform/http/server.ts';
import { graphPageSchema } from './schemas.ts';

const POLICY =
  "default-src 'none'; connect-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const require = createRequire(import.meta.url);
const here = (name: string) => new URL(`./page/${name}`, import.meta.url);

/** The files of the page; all are served from here, so it works without access to the Internet. */
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

/** The page that draws the graph. It is open; the data it draws needs the same permission as the export. */
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
