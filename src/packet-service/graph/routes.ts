import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { acceptWeight } from '../../platform/http/accept.ts';
import { callerShare } from '../../platform/http/caller-share.ts';
import { optionalBody } from '../../platform/http/optional-body.ts';
import { type Server, sendText } from '../../platform/http/server.ts';
import type { Settings } from '../../platform/settings.ts';
import type { Visibility } from '../access/visibility.ts';
import { ulidToUuid } from '../packet/ulid.ts';
import { type ExportContext, exportGraph } from './export.ts';
import { registerGraphPage } from './graph-page.ts';
import { materializeSchema, N_TRIPLES, NDJSON, vocabularySchema } from './schemas.ts';
import { asNdjson, asNTriples } from './triples.ts';
import { TURTLE } from './vocabulary.ts';

/** How long a stopping service lets downloads go on, in milliseconds: less than it waits for everything. */
const STOP_PATIENCE_MS = 10_000;

export function registerGraph(
  app: Server,
  {
    pool,
    exports,
    visibility,
    settings,
  }: ExportContext & { visibility: Visibility; settings: Pick<Settings, 'EXPORTS_PER_CALLER'> },
): void {
  const watch = breakOffAtStop(app);
  const takeShare = callerShare({ perCaller: settings.EXPORTS_PER_CALLER, what: 'exports', retryAfter: 10 });

  const config = { ...optionalBody.config, keyScope: 'read' } as const;
  app.post(
    '/graph/materialize',
    { schema: materializeSchema, ...optionalBody, config },
    async (request, reply) => {
      const { geoid, type, packet_id: packet, limit } = request.body;
      const filter = {
        geoid: geoid || undefined,
        type: type || undefined,
        id: packet ? ulidToUuid(packet) : undefined,
        limit,
        threads: await visibility.readableThreads(request),
      };
      takeShare(request, reply, request.user);
      const asRdf = prefersRdf(request.headers.accept);
      const lines = await exportGraph({ pool, exports }, filter, asRdf ? asNTriples : asNdjson);
      watch(lines);
      return sendLines(reply, lines, asRdf ? N_TRIPLES : NDJSON);
    },
  );

  registerGraphPage(app);
  app.get('/vocab', { schema: vocabularySchema, config: { open: true } }, async (_request, reply) =>
    sendText(reply, TURTLE, 'text/turtle; charset=utf-8'),
  );
}

/**
 * Limits how long stopping waits for downloads.
 *
 * @returns a function to be called with each export that begins
 */
function breakOffAtStop(app: Server): (lines: Readable) => void {
  const open = new Set<Readable>();
  let deadline: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    deadline = setTimeout(() => {
      for (const lines of open) lines.destroy(new Error('the service stops'));
    }, STOP_PATIENCE_MS);
  });
  app.addHook('onClose', async () => clearTimeout(deadline));
  return lines => {
    open.add(lines);
    lines.once('close', () => open.delete(lines));
  };
}

function sendLines(reply: FastifyReply, lines: Readable, type: string): FastifyReply {
  return reply.header('vary', 'accept').type(type).send(lines);
}

/** Whether a client prefers N-Triples to JSON; JSON is the default. */
function prefersRdf(accept = ''): boolean {
  return (acceptWeight(accept, N_TRIPLES, 'named') ?? 0) > (acceptWeight(accept, NDJSON, 'named') ?? 0);
}
