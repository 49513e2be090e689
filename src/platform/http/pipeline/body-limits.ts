import type { FastifySchema, RouteOptions } from 'fastify';
import { MAX_CONTAINERS, MAX_JSON_DEPTH, MAX_VALUES } from '../json.ts';

// toLocaleString would load the data of all languages at start.
const groups = (count: number) => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** The limits of every JSON body, for the definition. */
export const JSON_LIMITS =
  `A JSON body has at most ${groups(MAX_CONTAINERS)} arrays and objects, ${groups(MAX_VALUES)} values and ` +
  `${MAX_JSON_DEPTH} levels; larger bodies return 400.`;

/**
 * What the definition says about every request.
 *
 * @param perMinute maximum requests of one address per minute
 */
export function requestLimits(perMinute: number): string {
  return (
    `The request line and headers together have at most 16 KiB (431). An address can send ${groups(perMinute)} ` +
    'requests a minute (429 with Retry-After; RATE_LIMIT). Per address, large bodies being processed and large ' +
    'answers not yet read can each use 32 MiB of memory (503 with Retry-After). A body must arrive at 1 KiB/s on ' +
    'average over STALL_SECONDS (408).'
  );
}

type Documented = FastifySchema & { description?: string; consumes?: string[] };

/**
 * A route's schema with what the definition says about the size of its body: its limit in bytes, and the answer of a
 * larger one.
 *
 * @param bodyLimit bytes, where the route has no limit of its own
 */
export function withBodyLimit(schema: FastifySchema, route: RouteOptions, bodyLimit: number): FastifySchema {
  const { body, description, consumes, response } = schema as Documented;
  if (!body || !response || (consumes && !consumes.includes('application/json'))) return schema;
  const limit = `Maximum body size: ${inWords(route.bodyLimit ?? bodyLimit)}.`;
  const answers = response as Record<string, object>;
  const tooLarge = { ...answers[400], description: 'the body is too large for this endpoint' };
  return {
    ...schema,
    description: description ? `${description} ${limit}` : limit,
    response: { ...answers, 413: answers[413] ?? tooLarge },
  } as FastifySchema;
}

/** A route's schema with the answers to wrong parameters, and to a body of a media type that it does not take. */
export function withRefusals(
  schema: FastifySchema,
  refusals: Readonly<Record<400 | 415, object>> | undefined,
): FastifySchema {
  const { body, params, querystring, headers, response } = schema;
  if (!refusals || !response) return schema;
  return {
    ...schema,
    response: {
      ...((body ?? params ?? querystring ?? headers) !== undefined && { 400: refusals[400] }),
      ...(body !== undefined && { 415: refusals[415] }),
      ...response,
    },
  };
}

/** A route's schema with what the definition says about a rate limit of its own. */
export function withRateLimit(schema: FastifySchema, { config }: RouteOptions): FastifySchema {
  const limit = config?.rateLimit;
  if (!limit || typeof limit.max !== 'number' || typeof limit.timeWindow !== 'number') return schema;
  const { description } = schema as Documented;
  const sentence = `An address can send ${limit.max} such requests in ${duration(limit.timeWindow)} (429).`;
  return { ...schema, description: description ? `${description} ${sentence}` : sentence } as FastifySchema;
}

function duration(ms: number): string {
  const minutes = ms / 60_000;
  return minutes === 1 ? 'a minute' : minutes === 60 ? 'an hour' : `${minutes} minutes`;
}

function inWords(bytes: number): string {
  return bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2} MiB` : `${bytes / 1024} KiB`;
}
