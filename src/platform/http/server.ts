import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { JSON_LIMITS, withBodyLimit } from './body-limits.ts';
import { toProblem } from './failures.ts';
import { checkHosts, type HostSettings } from './hosts.ts';
import { readJson } from './json.ts';
import { Problem } from './problems.ts';
import { readForwarded, trustedProxies } from './proxies.ts';
import { sendSecurityHeaders } from './security-headers.ts';
import { validateExactly } from './validation.ts';

type SecurityScheme =
  | { type: 'http'; scheme: 'bearer'; bearerFormat?: string; description?: string }
  | { type: 'apiKey'; in: 'cookie'; name: string; description?: string };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered to anyone, even where everything else asks who they are. */
    open?: boolean;
  }
}

/** The media types that are JSON, with or without parameters. */
export const JSON_BODY = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers with JSON that is a text already; the response schema documents it and does not write it. */
export function sendText(reply: FastifyReply, text: string, type: string = JSON_TYPE): FastifyReply {
  return reply.type(type).send(text);
}

/** What makes one service's server differ from the other's. */
export interface ServiceDescription {
  title: string;
  description: string;
  version: string;
  tags: { name: string; description: string }[];
  /** Turns a problem into the service's error body, the same for every error that can happen. */
  errorBody: (problem: Problem) => object;
  /** Where the OpenAPI definition and the page that explains it are served. */
  definitionPath: string;
  pagePath: string;
  /** How requests say who they are, for the definition (OpenAPI security scheme objects by name). */
  securitySchemes: Record<string, SecurityScheme>;
  /** Whether a refused body is told all that is wrong with it, or the first thing, which is quicker. */
  everyError: boolean;
  /** Bytes of a request body that no route allows more of by itself. */
  bodyLimit: number;
  /** what clients know the service by, where a setting says it */
  publicUrl: string | undefined;
  logger: FastifyBaseLogger;
  settings: HostSettings;
}

export type Server = FastifyInstance<
  import('node:http').Server,
  import('node:http').IncomingMessage,
  import('node:http').ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Where a server listens, as a URL without a slash at its end. */
export function listeningUrl(app: Server): string {
  const { address, port, family } = app.server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/**
 * A fastify server as both services use it: bodies read exactly, validation that names the field and changes
 * nothing, every failure answered in the service's own error body, the OpenAPI definition made from the routes.
 * Routes are registered after this returns and before `ready()`.
 */
export async function createServer(service: ServiceDescription): Promise<Server> {
  const trusted = trustedProxies(service.settings);
  const app: Server = fastify({
    loggerInstance: service.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: service.bodyLimit,
    trustProxy: trusted,
    genReqId: requestIds(),
    requestTimeout: 120_000,
    forceCloseConnections: 'idle',
    clientErrorHandler: (error, socket) => answerUnreadable(service, error, socket),
    frameworkErrors: (error, _request, reply) => {
      const problem = toProblem(error);
      const body = JSON.stringify(service.errorBody(problem));
      reply.raw.writeHead(problem.status, {
        'content-type': JSON_TYPE,
        'content-length': Buffer.byteLength(body),
      });
      reply.raw.end(body);
    },
    routerOptions: { querystringParser: readQuery },
  }).withTypeProvider<TypeBoxTypeProvider>();

  readBodies(app);
  validateExactly(app, service.everyError);
  answerProblems(app, service);
  logRequests(app);
  sendSecurityHeaders(app, service.publicUrl);
  readForwarded(app, trusted);
  checkHosts(app, service.settings);
  endConnections(app);
  await describeRoutes(app, service);
  return app;
}

/** Request ids: a caller's own where it is plain, otherwise this process' random prefix and a count. */
function requestIds() {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return (request: { headers: Record<string, string | string[] | undefined> }): string => {
    const given = request.headers['x-request-id'];
    if (typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given)) return given;
    count++;
    return `${prefix}-${count.toString(36)}`;
  };
}

/** Query parameters; one that is present and empty counts as absent, a repeated one becomes an array. */
function readQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    if (value === '') continue;
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    else query[name] = Array.isArray(earlier) ? [...earlier, value] : [earlier, value];
  }
  return query;
}

function readBodies(app: Server): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(JSON_BODY, { parseAs: 'buffer' }, (_request, bytes, done) => {
    try {
      done(null, readBody(bytes as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

function readBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new Problem('unreadable', 'the body is not valid UTF-8');
  return readJson(bytes.toString('utf8'));
}

function answerProblems(app: Server, service: ServiceDescription): void {
  const routes: { method: string; pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    // A plugin's answer to preflights, which is no endpoint.
    if (url === '*') return;
    const pattern = new RegExp(
      `^${url
        .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:[^/]+/g, '[^/]+')
        .replace('*', '.*')}/?$`,
    );
    for (const name of [method].flat()) routes.push({ method: name, pattern });
  });

  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500) request.log.error({ err: error, cause: problem.cause }, 'request failed');
    if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter);
    return reply.code(problem.status).type(JSON_TYPE).send(service.errorBody(problem));
  });

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const methods = [
      ...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
    ];
    if (methods.length === 0) throw new Problem('not_found', `there is nothing at ${path.slice(0, 200)}`);
    reply.header('allow', methods.join(', '));
    throw new Problem(
      'method_not_allowed',
      `${path.slice(0, 200)} takes ${methods.join(', ')}, not ${request.method}`,
    );
  });
}

/** Answers what Node could not even parse as HTTP; nothing of fastify runs for it. */
function answerUnreadable(
  service: ServiceDescription,
  error: Error & { code?: string },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Problem('headers_too_large', 'the request headers are larger than 16 KiB')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new Problem('request_timeout', 'the request did not arrive within two minutes')
        : new Problem('invalid', 'the request is not valid HTTP');
  const body = JSON.stringify(service.errorBody(problem));
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.code}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function logRequests(app: Server): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const line = {
      method: request.method,
      path: pathOf(request),
      status: reply.statusCode,
      ms: reply.elapsedTime,
    };
    if (reply.statusCode >= 500) request.log.error(line, 'answered');
    else request.log.debug(line, 'answered');
    done();
  });
}

/**
 * Ends the connections of a stopping server as they fall idle. Node does so once, when the stop begins; those that
 * were answering then would be kept alive, and the stop would wait for clients that have nothing more to ask.
 */
function endConnections(app: Server): void {
  let timer: NodeJS.Timeout;
  app.addHook('preClose', done => {
    timer = setInterval(() => app.server.closeIdleConnections(), 50);
    done();
  });
  app.addHook('onClose', async () => clearInterval(timer));
}

/**
 * The path for the log: without its query, where a client may have put personal data, and without secrets of mailed
 * links. Of a path that leads nowhere only the beginning: it may be such a link with something wrong behind.
 */
function pathOf(request: FastifyRequest): string {
  const { url: pattern } = request.routeOptions;
  const path = request.url.split('?')[0] ?? '';
  if (pattern === undefined || request.is404) return /^\/[^/]*(?=\/)/.exec(path)?.[0].concat('/…') ?? '/…';
  return pattern.includes('/:token') ? pattern : path;
}

const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

async function describeRoutes(app: Server, service: ServiceDescription): Promise<void> {
  const { title, description, version, tags, securitySchemes } = service;
  app.addHook('onRoute', ({ config, schema }) => {
    if (config?.open && schema) schema.security = [];
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, description: `${description} ${JSON_LIMITS}`, version },
      tags,
      components: { securitySchemes },
      security: Object.keys(securitySchemes).map(name => ({ [name]: [] })),
    },
    transform: ({ schema, url, route }) => ({
      schema: schema && withBodyLimit(schema, route, service.bodyLimit),
      url,
    }),
  });
  await app.register(openPage, service);
  app.get(service.definitionPath, { schema: { hide: true }, config: { open: true } }, () => app.swagger());
}

/** The page that explains the definition. In a context of its own, so that what it registers is open to anyone. */
async function openPage(page: FastifyInstance, { title, pagePath }: ServiceDescription): Promise<void> {
  page.addHook('onRoute', route => {
    route.config = { ...route.config, open: true };
  });
  await page.register(swaggerUi, {
    routePrefix: pagePath,
    // Swagger UI sets styles inline; everything else comes from here, over whatever scheme the page came.
    staticCSP: PAGE_POLICY,
    uiConfig: { docExpansion: 'list', tryItOutEnabled: true, validatorUrl: null },
    theme: { title },
  });
}
