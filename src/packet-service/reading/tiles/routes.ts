import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import { matchesTag } from '../../../platform/http/etag.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { rangeEnd } from '../../core/contract/range-end.ts';
import type { MapFilter, Points } from '../../core/packets/tile-store.ts';
import type { ChooseReads } from '../../core/replicas/reads.ts';
import { fieldTile } from './fields.ts';
import type { Tile } from './mercator.ts';
import { observationTile } from './observations.ts';
import { fieldTileSchema, MVT, type ObservationQuery, observationTileSchema } from './schemas.ts';
import { sharedReads } from './shared-reads.ts';

/**
 * Tiles for maps. Observations are those of GET /packets that are not messages of a thread, so they are the same for
 * everyone who may call it.
 *
 * @param refuseFields a hook that answers if fields are registered in an asset registry
 */
export function registerTiles(
  app: Server,
  { reads, pace, refuseFields }: { reads: ChooseReads; pace: Pace; refuseFields: () => Promise<void> },
): void {
  const shared = sharedReads<Points>();
  app.get('/tiles/observations/:z/:x/:y.mvt', { schema: observationTileSchema }, async (request, reply) => {
    checkTile(request.params);
    const { database } = await reads(request);
    const tile = await observationTile({ database, shared }, request.params, readFilter(request.query));
    return sendTile(reply, tile, request.headers['if-none-match']);
  });

  app.get(
    '/tiles/fields/:z/:x/:y.mvt',
    { schema: fieldTileSchema, preHandler: refuseFields },
    async (request, reply) => {
      checkTile(request.params);
      const { database } = await reads(request);
      const tile = await fieldTile(database, request.params, pace);
      return sendTile(reply, tile, request.headers['if-none-match']);
    },
  );
}

/** @throws Problem invalid, naming the number that the zoom does not have */
function checkTile({ z, x, y }: Tile): void {
  const last = 2 ** z - 1;
  for (const [name, value] of Object.entries({ x, y })) {
    if (value > last) throw new Problem('tile.off_map', { field: name, max: last, zoom: z });
  }
}

/** @throws Problem invalid, naming the parameter */
function readFilter({ geoid, type, from, to, field, text }: ObservationQuery): MapFilter {
  if ((field === undefined) !== (text === undefined)) {
    throw new Problem('tile.field_without_text', { field: field === undefined ? 'field' : 'text' });
  }
  return {
    geoid: geoid || undefined,
    type: type || undefined,
    from: rangeEnd(from, 'from'),
    to: rangeEnd(to, 'to'),
    text: field === undefined || text === undefined ? undefined : { field, contains: text },
  };
}

function sendTile(reply: FastifyReply, tile: Buffer, known: string | undefined): FastifyReply {
  const tag = `"${hash('sha256', tile, 'hex').slice(0, 32)}"`;
  reply.header('etag', tag).header('cache-control', 'private, no-cache');
  if (matchesTag(known, tag)) return reply.code(304).send(null);
  return reply.type(MVT).send(tile);
}
