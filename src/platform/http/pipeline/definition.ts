import swagger from '@fastify/swagger';
import swaggerUi, { type FastifySwaggerUiConfigOptions as SwaggerUiConfig } from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import { reasonsOf } from '../reasons/of-operations.ts';
import type { ExampleId, Server, ServiceDescription } from '../server.ts';
import { type Definition, withSharedParts } from '../shared-parts.ts';
import { JSON_LIMITS, requestLimits, withBodyLimit, withRateLimit, withRefusals } from './body-limits.ts';

const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Makes the OpenAPI definition from the routes that are registered after this, and serves it and the page about it. */
export async function describeRoutes(app: Server, service: ServiceDescription): Promise<void> {
  const { title, description, version, tags, securitySchemes, perMinute } = service;
  app.addHook('onRoute', ({ config, schema }) => {
    if (config?.open && schema) schema.security = [];
    if (config?.optionalBody && schema) (schema as Marked)[OPTIONAL_BODY] = true;
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, description: `${description} ${JSON_LIMITS} ${requestLimits(perMinute)}`, version },
      tags,
      components: { securitySchemes },
      security: Object.keys(securitySchemes).map(name => ({ [name]: [] })),
    },
    transform: ({ schema, url, route }) => ({
      schema: schema && described(schema, route, service),
      url,
    }),
    transformObject: document => {
      if (!('openapiObject' in document)) return document.swaggerObject;
      const { openapiObject } = document;
      allowNoBody(openapiObject.paths ?? {});
      nameHeads(openapiObject.paths ?? {});
      return withSharedParts(openapiObject as Definition) as typeof openapiObject;
    },
  });
  await app.register(openPage, service);
  app.get(service.definitionPath, { schema: { hide: true }, config: { open: true } }, () => app.swagger());
}

/** A route's schema with the limits and the answers that all routes have. */
function described(
  schema: FastifySchema,
  route: RouteOptions,
  { bodyLimit, refusals }: ServiceDescription,
): FastifySchema {
  const whole = withPages(
    withBodyLimit(withRefusals(withRateLimit(schema, route), refusals), route, bodyLimit),
    route,
  );
  const reasons = reasonsOf((schema as Named).operationId);
  return reasons.length === 0 ? whole : ({ ...whole, 'x-reasons': reasons } as FastifySchema);
}

/** Marks operations whose body may be left out, as the plugin takes every body for required. */
const OPTIONAL_BODY = 'x-optional-body';
type Marked = { [OPTIONAL_BODY]?: boolean };

function allowNoBody(paths: object): void {
  for (const operation of Object.values(paths).flatMap(path => Object.values(path as object))) {
    if ((operation as Marked)[OPTIONAL_BODY]) operation.requestBody.required = false;
    delete (operation as Marked)[OPTIONAL_BODY];
  }
}

/** A route's schema with the pages that its failures are in a browser, where people open it. */
function withPages(schema: FastifySchema, { config }: RouteOptions): FastifySchema {
  if (!config?.forPeople) return schema;
  const answers = Object.entries(
    schema.response as Record<string, { description?: string; content?: object }>,
  );
  const described = answers.map(([status, answer]) => {
    if (Number(status) < 400 || answer.content !== undefined) return [status, answer];
    const content = { 'application/json': { schema: answer }, 'text/html': { schema: { type: 'string' } } };
    return [status, { description: answer.description, content }];
  });
  return { ...schema, response: Object.fromEntries(described) };
}

/** Gives HEAD an operationId of its own where one route answers GET and HEAD; the plugin ends it in "-head". */
function nameHeads(paths: Record<string, { get?: Named; head?: Named } | undefined>): void {
  for (const path of Object.values(paths)) {
    const id = path?.head?.operationId?.replace(/-head$/, '');
    if (!path || id === undefined) continue;
    // A copy, because such a route has one object for both.
    const operationId = id === path.get?.operationId ? id.replace(/^get/, 'head') : id;
    path.head = { ...path.head, operationId };
  }
}

interface Named {
  operationId?: string;
}

/** The page that explains the definition. In a context of its own, so that what it registers is open to anyone. */
async function openPage(
  page: FastifyInstance,
  { title, pagePath, examples }: ServiceDescription,
): Promise<void> {
  page.addHook('onRoute', route => {
    route.config = { ...route.config, open: true };
  });
  await page.register(swaggerUi, {
    routePrefix: pagePath,
    // Swagger UI sets styles inline; everything else comes from here, over whatever scheme the page came.
    staticCSP: PAGE_POLICY,
    uiConfig: {
      // With every group open, the page of two hundred operations takes half a minute to come up.
      docExpansion: 'none',
      tryItOutEnabled: true,
      validatorUrl: null,
      ...exampleIds(examples),
    },
    theme: { title },
  });
}

/**
 * Functions of the page that let prefilled requests build on each other: the ids of what was created last on the page
 * replace the example ids. They are written into the page's script, so they use nothing of this file.
 */
function exampleIds(examples: readonly ExampleId[]) {
  const responseInterceptor = new Function(
    'response',
    `const given = (window.fieldtraceIds ??= {});
    if (!response.ok) return response;
    const path = new URL(response.url).pathname;
    for (const { created, at, example } of ${JSON.stringify(examples)}) {
      const id = path.endsWith(created) ? at.reduce((value, name) => value?.[name], response.body) : undefined;
      if (id !== undefined) given[example] = String(id);
    }
    return response;`,
  );
  const requestInterceptor = new Function(
    'request',
    `for (const [example, id] of Object.entries(window.fieldtraceIds ?? {})) {
      const whole = new RegExp('\\\\b' + example + '\\\\b', 'g');
      request.url = request.url.replace(whole, id);
      if (typeof request.body === 'string') request.body = request.body.replace(whole, id);
    }
    return request;`,
  );
  return { requestInterceptor, responseInterceptor } as Pick<
    SwaggerUiConfig,
    'requestInterceptor' | 'responseInterceptor'
  >;
}
