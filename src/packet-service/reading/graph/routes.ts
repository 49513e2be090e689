import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { acceptWeight } from '../../../platform/http/accept.ts';
import type { AdmitDownload } from '../../../platform/http/downloads.ts';
import { optionalBody } from '../../../platform/http/optional-body.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import type { Visibility } from '../../core/access/visibility.ts';
import { ulidToUuid } from '../../core/packet-format/ulid.ts';
import { exportOnEither } from '../../core/packets/export.ts';
import { readFilter } from '../../core/packets/filter.ts';
import type { FilterQuery } from '../../core/packets/schemas.ts';
import type { ChooseReads } from '../../core/replicas/reads.ts';
import { exportGraph } from './export.ts';
import { registerGraphPage } from './graph-page.ts';
import { materializeSchema, N_TRIPLES, NDJSON, vocabularySchema } from './schemas.ts';
import { asNdjson, asNTriples } from './triples.ts';
import { TURTLE } from './vocabulary.ts';

export function registerGraph(
  app: Server,
  { reads, visibility, admit }: { reads: ChooseReads; visibility: Visibility; admit: AdmitDownload },
): void {
  const config = { ...optionalBody.config, keyScope: 'read' } as const;
  app.post(
    '/graph/materialize',
    { schema: materializeSchema, ...optionalBody, config },
    async (request, reply) => {
      const { packet_id: packet, limit, ...query } = request.body;
      const filter = {
        ...readFilter(withoutEmpty(query)),
        id: packet ? ulidToUuid(packet) : undefined,
        limit,
        threads: await visibility.readableThreads(request),
      };
      const signal = await admit(request, reply, request.user);
      const asRdf = prefersRdf(request.headers.accept);
      const write = asRdf ? asNTriples : asNdjson;
      const lines = await exportOnEither(await reads(request), signal, context =>
        exportGraph(context, filter, write, { signal }),
      );
      return sendLines(reply, lines, asRdf ? N_TRIPLES : NDJSON);
    },
  );

  registerGraphPage(app);
  app.get('/vocab', { schema: vocabularySchema, config: { open: true } }, async (_request, reply) =>
    sendText(reply, TURTLE, 'text/turtle; charset=utf-8'),
  );
}

/** Removes empty texts, which count as absent. */
function withoutEmpty(query: FilterQuery): FilterQuery {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
}

function sendLines(reply: FastifyReply, lines: Readable, type: string): FastifyReply {
  return reply.header('vary', 'accept').type(type).send(lines);
}

/** Whether a client prefers N-Triples to JSON; JSON is the default. */
function prefersRdf(accept = ''): boolean {
  return (acceptWeight(accept, N_TRIPLES, 'named') ?? 0) > (acceptWeight(accept, NDJSON, 'named') ?? 0);
}
