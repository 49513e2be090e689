import type { FastifyRequest, RouteOptions } from 'fastify';
import { accepts } from '../accept.ts';
import { nearestName, shownName } from '../nearest.ts';
import { Problem } from '../problems.ts';
import { JSON_TYPE, type Server, type ServiceDescription } from '../server.ts';

/** The parts of a route's schema about the address of a request and the media types of its answers. */
interface Expectation {
  /** names of its query parameters; undefined where others are ignored */
  parameters: readonly string[] | undefined;
  /** those of them that are whole numbers */
  integers: readonly string[];
  /** media types of its answers, JSON included; undefined where they can be any */
  produces: readonly string[] | undefined;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    expectation?: Expectation | undefined;
  }
}

/** Query parameters; one that is present and empty counts as absent, a repeated one becomes an array. */
export function readQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  if (text === '') return query;
  for (const [name, value] of new URLSearchParams(text)) {
    if (value === '') continue;
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else query[name] = [earlier, value];
  }
  return query;
}

/**
 * Checks the address and the Accept header of every request, before its body is read: U+0000, which PostgreSQL cannot
 * store, query parameters that are unknown or no whole numbers, and whether the client accepts what the route answers.
 * A request without a query and with an Accept header of all types costs three comparisons.
 */
export function checkRequests(
  app: Server,
  { unknownParameters }: Pick<ServiceDescription, 'unknownParameters'>,
): void {
  app.addHook('onRoute', route => {
    route.config = { ...route.config, expectation: expectationOf(route, unknownParameters === 'refused') };
  });
  app.addHook('onRequest', (request, _reply, done) => {
    try {
      check(request);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}

function check(request: FastifyRequest): void {
  const { url = '', headers } = request.raw;
  const { accept } = headers;
  const hasQuery = url.includes('?');
  const isPicky = accept !== undefined && accept !== '*/*';
  // No other writing of U+0000 is valid in a URL.
  if (url.includes('%00')) throw withNul(request);
  if (!hasQuery && !isPicky) return;

  const expectation = request.routeOptions.config?.expectation;
  if (!expectation) return;
  const { parameters, integers, produces } = expectation;
  if (hasQuery) checkQuery(request.query as Query, parameters, integers);
  if (isPicky && produces && !accepts(accept, produces)) {
    throw new Problem('request.not_acceptable', { types: produces.join(', ') });
  }
}

type Query = Record<string, unknown>;

function checkQuery(query: Query, parameters: Expectation['parameters'], integers: readonly string[]): void {
  if (parameters) {
    const unknown = Object.keys(query).find(name => !parameters.includes(name));
    if (unknown !== undefined) throw unknownParameter(unknown, parameters);
  }
  for (const name of integers) {
    const value = query[name];
    if (value === undefined) continue;
    if (typeof value !== 'string' || !/^[0-9]+$/.test(value)) {
      throw new Problem('validation.digits', { field: name });
    }
    query[name] = Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  }
}

function unknownParameter(name: string, known: readonly string[]): Problem {
  const field = shownName(name);
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return new Problem('validation.misspelt_parameter', { field, nearest });
  if (known.length === 0) return new Problem('validation.no_parameters', { field });
  return new Problem('validation.unknown_parameter', { field, known: known.join(', ') });
}

/** Names where in the address U+0000 is. */
function withNul(request: FastifyRequest): Problem {
  const entries = [...Object.entries(request.query as Query), ...Object.entries(request.params as Query)];
  const [key = '*'] = entries.find(entry => entry.flat().join().includes('\0')) ?? [];
  // A wildcard is no parameter that a client knows of.
  const name = key === '*' ? 'the path' : key;
  return new Problem('validation.nul', { field: name.replaceAll('\0', '\ufffd').slice(0, 64) });
}

type Schema = {
  hide?: boolean;
  querystring?: { properties?: Record<string, { type?: string }> };
  response?: Record<string, { type?: string; content?: object }>;
};

/** Nothing is expected of what is not in the definition: pages, and what they load. */
function expectationOf(route: RouteOptions, strict: boolean): Expectation | undefined {
  const schema = route.schema as Schema | undefined;
  if (!schema || schema.hide) return undefined;
  const properties = Object.entries(schema.querystring?.properties ?? {});
  return {
    // Open routes are linked to from mails and polled by programs that add their own parameters.
    parameters: strict && !route.config?.open ? properties.map(([name]) => name) : undefined,
    integers: properties.filter(([, { type }]) => type === 'integer').map(([name]) => name),
    produces: mediaTypes(schema.response ?? {}),
  };
}

function mediaTypes(response: NonNullable<Schema['response']>): string[] | undefined {
  const good = Object.entries(response).filter(([status]) => status.startsWith('2'));
  const types = new Set(good.flatMap(([, answer]) => Object.keys(answer.content ?? {})));
  if (types.has('*/*')) return undefined;
  types.add(JSON_TYPE.split(';')[0] as string);
  return [...types];
}
