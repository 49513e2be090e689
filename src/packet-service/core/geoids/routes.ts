import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import { transaction } from '../../../platform/database/database.ts';
import { contentDisposition } from '../../../platform/http/disposition.ts';
import type { AdmitDownload } from '../../../platform/http/downloads.ts';
import { linkNext } from '../../../platform/http/next-link.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { cutByBytes, sendParts } from '../../../platform/http/streamed-text.ts';
import { processSlots } from '../../../platform/limits/slots.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { isAdministrator } from '../access/caller.ts';
import { exportOnEither } from '../packets/export.ts';
import type { ChooseReads } from '../replicas/reads.ts';
import { downloadFields } from './download.ts';
import { readFeatures } from './features.ts';
import { asFeature, readBox } from './field-feature.ts';
import { removeField } from './owners.ts';
import { registerFields as register } from './registry.ts';
import {
  deleteFieldSchema,
  downloadFieldsSchema,
  getFieldSchema,
  listFieldNamesSchema,
  listFieldsSchema,
  MAX_FOUND,
  putFieldsSchema,
} from './schemas.ts';
import { fieldsByName, findFields, listFields, type NamedField, namesOfFields } from './store.ts';
import type { Surveyor } from './surveyor.ts';
import type { FieldWatch } from './watch.ts';
import { refuseWithAssetRegistry } from './with-asset-registry.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const GEOJSON_TYPE = 'application/geo+json; charset=utf-8';
const MAX_BODY_BYTES = 2 * 1024 * 1024;
/**
 * Registrations run one after another, as the advisory lock requires anyway, so that they hold one connection and not
 * all of them. If too many wait, clients get 503 with Retry-After.
 */
const REGISTRATIONS = {
  total: 1,
  mostWaiting: 50,
  full: () => new Problem('field.too_many_registrations', {}, { retryAfter: 5 }),
};

/** Dependencies of the registry of fields. */
interface Fields {
  pool: pg.Pool;
  settings: Pick<Settings, 'ASSET_REGISTRY_URL' | 'AUTH_MODE'>;
  pace: Pace;
  surveyor: Surveyor;
  watch: FieldWatch;
  reads: ChooseReads;
  admit: AdmitDownload;
}

/** The built-in registry of fields. If an asset registry is configured, these routes answer 501. */
export function registerFields(app: Server, fields: Fields): void {
  registerOne(app, fields);
  registerAll(app, fields);
}

function registerOne(app: Server, { pool, settings, pace, surveyor, watch }: Fields): void {
  const oneByOne = processSlots(REGISTRATIONS);
  const preHandler = refuseWithAssetRegistry(settings);

  app.put(
    '/fields',
    {
      schema: putFieldsSchema,
      bodyLimit: MAX_BODY_BYTES,
      preValidation: preHandler,
      // readFeatures checks the body: it names the feature, ring and position, while a schema of alternatives could
      // only say that none of them matches.
      validatorCompiler: () => () => true,
    },
    async request => {
      const registrar = {
        author: request.user ?? null,
        anonymous: request.anonymous,
        administrator: isAdministrator(request),
      };
      const registered = await oneByOne.run(async () => {
        const fields = await readFeatures(request.body, surveyor);
        return transaction(pool, database =>
          register(database, fields, registrar, { now: new Date(), pace, watch }),
        );
      });
      return { fields: registered.map(asRegistered) };
    },
  );

  app.get('/fields/names', { schema: listFieldNamesSchema, preHandler }, async request => {
    const { geoids, name } = request.query;
    if ((geoids === undefined) === (name === undefined)) {
      throw new Problem('field.wrong_names_query');
    }
    if (geoids !== undefined) return { fields: await namesOfFields(pool, geoids.split(',')) };
    const search = fieldsByName({ beginning: name as string, limit: MAX_FOUND });
    return { fields: (await pool.query<NamedField>(search)).rows };
  });

  app.get('/fields/:geoid', { schema: getFieldSchema, preHandler }, async (request, reply) => {
    const [field] = await findFields(pool, [request.params.geoid]);
    if (!field) throw new Problem('field.unknown', { geoid: request.params.geoid });
    return sendGeoJson(reply, asFeature(field));
  });

  app.delete('/fields/:geoid', { schema: deleteFieldSchema, preHandler }, async (request, reply) => {
    const { user, anonymous } = request;
    const caller = { user, anonymous, administrator: isAdministrator(request) };
    await transaction(pool, database =>
      removeField(database, caller, request.params.geoid, { mode: settings.AUTH_MODE, watch }),
    );
    return reply.code(204).send(null);
  });
}

/** The fields, by pages and as one file. */
function registerAll(app: Server, { pool, settings, reads, admit }: Fields): void {
  const preHandler = refuseWithAssetRegistry(settings);

  app.get('/fields', { schema: listFieldsSchema, preHandler }, async (request, reply) => {
    const { bbox, cursor } = request.query;
    const limit = Math.min(request.query.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    const box = bbox === undefined ? undefined : readBox(bbox);
    // One extra field shows whether there is a next page.
    const listed = await listFields(pool, { box, after: cursor, limit: limit + 1 });
    const fields = listed.slice(0, limit);
    const next = listed.length > limit ? fields.at(-1)?.geoid : undefined;
    if (next !== undefined) linkNext(reply, next);
    return sendParts(reply, collectionInParts(pool, fields, next), GEOJSON_TYPE);
  });

  app.get('/fields.geojson', { schema: downloadFieldsSchema, preHandler }, async (request, reply) => {
    const { bbox } = request.query;
    const box = bbox === undefined ? undefined : readBox(bbox);
    const day = new Date().toISOString().slice(0, 10);
    reply.type(GEOJSON_TYPE).header('content-disposition', contentDisposition(`fields-${day}.geojson`));
    // Fastify would read the whole file to answer without it.
    if (request.method === 'HEAD') return reply.send();
    const signal = await admit(request, reply, request.user);
    const file = await exportOnEither(await reads(request), signal, context =>
      downloadFields(context, box, signal),
    );
    return reply.send(file);
  });
}

function asRegistered({ geoid, areaM2, name, status }: Awaited<ReturnType<typeof register>>[number]) {
  return { geoid, area_m2: areaM2, ...(name !== undefined && { name }), status };
}

/** A page of fields, read part by part because boundaries can be long. Fields removed meanwhile are left out. */
async function* collectionInParts(
  pool: pg.Pool,
  fields: readonly { geoid: string; bytes: number }[],
  next: string | undefined,
): AsyncGenerator<string> {
  let before = '{"type":"FeatureCollection","features":[';
  for (const part of cutByBytes(fields, ({ bytes }) => bytes)) {
    const rows = await findFields(
      pool,
      part.map(({ geoid }) => geoid),
    );
    if (rows.length === 0) continue;
    const inOrder = rows.toSorted((a, b) => (a.geoid < b.geoid ? -1 : 1));
    yield before + inOrder.map(asFeature).join(',');
    before = ',';
  }
  const cursor = next === undefined ? '' : `,"next_cursor":"${next}"`;
  yield `${before === ',' ? '' : before}]${cursor}}`;
}

function sendGeoJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(GEOJSON_TYPE).serializer(asIs).send(text);
}

const asIs = (text: unknown) => text as string;
