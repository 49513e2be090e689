import type { FastifySchema, RouteOptions } from 'fastify';
import { MAX_CONTAINERS, MAX_JSON_DEPTH, MAX_VALUES } from './json.ts';

const groups = (count: number) => count.toLocaleString('en');

/** What the definition says about every JSON body. */
export const JSON_LIMITS =
  `A JSON body has at most ${groups(MAX_CONTAINERS)} arrays and objects, ${groups(MAX_VALUES)} values and ` +
  `${MAX_JSON_DEPTH} levels; a larger one is answered 400.`;

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
  const limit = `The body has at most ${inWords(route.bodyLimit ?? bodyLimit)}.`;
  const answers = response as Record<string, object>;
  const tooLarge = { ...answers[400], description: 'the body is larger than this endpoint takes' };
  return {
    ...schema,
    description: description ? `${description} ${limit}` : limit,
    response: { ...answers, 413: answers[413] ?? tooLarge },
  } as FastifySchema;
}

function inWords(bytes: number): string {
  return bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2} MiB` : `${bytes / 1024} KiB`;
}
