import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { Problem } from '../platform/http/problems.ts';
import type { Server } from '../platform/http/server.ts';
import type { Settings } from '../platform/settings/settings.ts';

/** Names of base maps: no other file of DATA_DIR can be requested. */
const NAME = /^[^./\\][^/\\]*\.pmtiles$/;

/**
 * A base map of the operator: the first `.pmtiles` file in DATA_DIR, by name. Browsers read ranges of it. It is looked for
 * at each request, so that it can be put there while the service runs.
 *
 * @param app has @fastify/static
 */
export function registerBaseMap(app: Server, { DATA_DIR }: Pick<Settings, 'DATA_DIR'>): void {
  const root = path.resolve(DATA_DIR);

  app.get('/basemap', async (_request, reply) => {
    const name = globSync('*.pmtiles', { cwd: root })
      .filter(file => NAME.test(file))
      .sort()[0];
    reply.header('cache-control', 'no-cache');
    return { url: name === undefined ? null : `/basemap/${encodeURIComponent(name)}` };
  });

  app.get('/basemap/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    if (!NAME.test(name) || !existsSync(path.join(root, name))) {
      throw new Problem('base_map.unknown');
    }
    reply.header('cache-control', 'no-cache');
    return reply.sendFile(name, root);
  });
}
