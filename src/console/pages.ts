import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import files from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NO_ICON, pageOf, sendHtml } from '../platform/http/page.ts';
import { Problem } from '../platform/http/problems.ts';
import type { Server } from '../platform/http/server.ts';
import { VERSION } from '../platform/version.ts';
import { PAGE_HEADERS, WORKER_HEADERS } from './security-headers.ts';

/** The folder of the built console. */
const BUILT = fileURLToPath(new URL('../../console/dist/', import.meta.url));

const INDEX = 'index.html';
const WORKER = 'service-worker.js';
/** Names with a hash of the contents: what is in such a file never changes. */
const HASHED = /^assets\//;
const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Whether the console is built; without it its service only says how to build it. */
export function isConsoleBuilt(folder: string = BUILT): boolean {
  return existsSync(path.join(folder, INDEX));
}

/**
 * Serves the built console. Its addresses are those of its screens, so that every navigation that names no file gets the
 * one page.
 *
 * @param folder of the built console
 */
export async function registerPages(app: Server, folder: string = BUILT): Promise<void> {
  app.get('/health/live', { config: { open: true, health: true } }, async () => ({
    status: 'OK',
    service: 'console',
    version: VERSION,
  }));
  const names = new Set(globSync('**/*', { cwd: folder }).map(name => name.replaceAll(path.sep, '/')));
  if (!names.has(INDEX)) {
    app.get('/*', async (request, reply) => {
      if (!isNavigation(request)) throw notFound(request);
      return sendHtml(reply.code(503), notBuilt());
    });
    return;
  }
  await app.register(files, { root: folder, serve: false, cacheControl: false, preCompressed: true });
  app.get('/*', async (request, reply) => {
    const name = (request.params as { '*': string })['*'];
    if (names.has(name) && name !== INDEX) return sendFile(reply, name);
    if (name !== '' && !isNavigation(request)) throw notFound(request);
    // Asked for again each time: it names the files of the current version.
    reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache' });
    return reply.sendFile(INDEX);
  });
}

function sendFile(reply: FastifyReply, name: string): FastifyReply {
  const isHashed = HASHED.test(name);
  if (name === WORKER) reply.headers(WORKER_HEADERS);
  reply.header('cache-control', isHashed ? `public, max-age=${YEAR_MS / 1000}, immutable` : 'no-cache');
  return reply.sendFile(name);
}

/** Whether a browser opens the address as a page: resources that pages load are not requested as HTML. */
function isNavigation({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}

function notFound({ url }: FastifyRequest): Problem {
  return new Problem('request.unknown_path', { path: (url.split('?')[0] as string).slice(0, 200) });
}

function notBuilt() {
  const sections =
    '<section><p>The services run, but their console was not built. Build it with</p><pre>npm run console</pre>' +
    '<p>in the folder of fieldtrace, and start it again.</p></section>';
  return pageOf({ title: 'The console is not built', sections, head: NO_ICON });
}
