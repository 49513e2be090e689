import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Pace } from '../../platform/concurrency/pacer.ts';
import { matchesTag } from '../../platform/http/etag.ts';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import { rangeEnd } from '../contract/range-end.ts';
import type { MapFilter, Points } from '../packets/tile-store.ts';
import type { ChooseReads } from '../replicas/reads.ts';
import { fieldTile } from './fields.ts';
import { LAST_CLUSTERED, type Tile } from './mercator.ts';
import { isCounted, observationTile } from './observations.ts';
import { fieldTileSchema, MVT, type ObservationQuery, observationTileSchema } from './schemas.ts';
import { sharedReads } from './shared-reads.ts';
import { turns } from './turns.ts';

/**
 * Tiles for maps. Observations are those of GET /packets that are not messages of a thread, so they are the same for
 * everyone who may call it.
 *
 * @param connections that requests have to the database: tiles use all of them at most, those of counts one half
 * @param refuseFields a hook that answers if fields are registered elsewhere
 */
export function registerTiles(
  app: Server,
  {
    reads,
    connections,
    pace,
    refuseFields,
  }: { reads: ChooseReads; connections: number; pace: Pace; refuseFields: () => Promise<void> },
): void {
  const shared = sharedReads<Points>();
  // Those that are quick do not wait for the others.
  const [inTurn, inTurnOfCounts] = [turns(connections >> 1), turns(connections >> 1)];
  app.get('/tiles/observations/:z/:x/:y.mvt', { schema: observationTileSchema }, async (request, reply) => {
    const { params, query, headers } = request;
    checkTile(params);
    const filter = readFilter(query);
    const turn = isCounted(params, filter) ? inTurnOfCounts : inTurn;
    const tile = await turn(reply, async checkClient => {
      const { database } = await reads(request);
      return observationTile({ database, shared, checkClient }, params, filter);
    });
    return sendTile(reply, tile, headers['if-none-match']);
  });

  app.get(
    '/tiles/fields/:z/:x/:y.mvt',
    { schema: fieldTileSchema, preHandler: refuseFields },
    async (request, reply) => {
      const { params, headers } = request;
      checkTile(params);
      const turn = params.z <= LAST_CLUSTERED ? inTurnOfCounts : inTurn;
      const tile = await turn(reply, async () => {
        const { database } = await reads(request);
        return fieldTile(database, params, pace);
      });
      return sendTile(reply, tile, headers['if-none-match']);
    },
  );
}

/** @throws Problem invalid, naming the number that the zoom does not have */
function checkTile({ z, x, y }: Tile): void {
  const last = 2 ** z - 1;
  for (const [name, value] of Object.entries({ x, y })) {
    if (value > last) throw new Problem('invalid', `${name} must be 0 to ${last} at zoom ${z}`);
  }
}

/** @throws Problem invalid, naming the parameter */
function readFilter({ geoid, type, from, to, field, text }: ObservationQuery): MapFilter {
  if ((field === undefined) !== (text === undefined)) {
    throw new Problem(
      'invalid',
      `${field === undefined ? 'field' : 'text'} is required: field and text go together`,
    );
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
