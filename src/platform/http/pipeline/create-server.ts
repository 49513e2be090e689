import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import serializerOf from 'fast-json-stringify';
import fastify, { type FastifyRequest, LogController } from 'fastify';
import { type Pace, pacer } from '../../concurrency/pacer.ts';
import { decodeBody, isEncoded } from '../encoding.ts';
import { checkHosts } from '../hosts.ts';
import { LARGE_TEXT, readJson, readJsonInTurns } from '../json.ts';
import { Problem } from '../problems.ts';
import { JSON_BODY, type Server, type ServiceDescription } from '../server.ts';
import { validateExactly } from '../validation.ts';
import { answerProblems, answerUnreadable, answerUnroutable, type IsAnswered } from './answers.ts';
import { letOriginsIn } from './cors.ts';
import { describeRoutes } from './definition.ts';
import { boundAnswers, boundBodies } from './held-bytes.ts';
import { readForwarded, trustedProxies } from './proxies.ts';
import { limitRequests } from './rate-limit.ts';
import { checkRequests, readQuery } from './request-line.ts';
import { requestLogger } from './request-logger.ts';
import { sendSecurityHeaders } from './security-headers.ts';
import { cutOffSlowClients } from './slow-clients.ts';

/**
 * Characters of a path parameter as it is written, at most: the 256 characters that a body may name a user by, each of
 * up to four percent-encoded bytes. What it may be is in the route's schema.
 */
const MAX_PARAM_LENGTH = 256 * 12;

/** Microseconds of reading large bodies that begins in one turn of the event loop, about. */
const READING_PER_TURN = 20_000;

/**
 * A fastify server as both services use it: bodies read exactly, validation that names the field and changes
 * nothing, every failure answered in the service's own error body, the OpenAPI definition made from the routes.
 * Routes are registered after this returns and before `ready()`.
 */
export async function createServer(service: ServiceDescription): Promise<Server> {
  const trusted = trustedProxies(service.settings);
  let isAnswered: IsAnswered;
  const app: Server = fastify({
    loggerInstance: service.logger,
    childLoggerFactory: requestLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: service.bodyLimit,
    trustProxy: trusted,
    genReqId: requestIds(),
    // Headers have Node's minute; bodies may take their time as long as they come (slow-clients.ts).
    requestTimeout: 0,
    // checkHosts does, in the service's own error body.
    http: { requireHostHeader: false },
    forceCloseConnections: 'idle',
    // Ours says when to come back.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => answerUnreadable(service, error, socket, isAnswered),
    frameworkErrors: (error, request, reply) => answerUnroutable(service, error, request, reply),
    routerOptions: {
      querystringParser: readQuery,
      ignoreTrailingSlash: true,
      maxParamLength: MAX_PARAM_LENGTH,
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  // An unknown expectation may be ignored (RFC 9110, 10.1.1); Node would answer 417 without a body.
  app.server.on('checkExpectation', app.routing);
  // Before every hook that can answer: what it notes of a request decides whether an unreadable body gets an answer.
  isAnswered = cutOffSlowClients(app, service.settings);
  logRequests(app);
  sendSecurityHeaders(app, service.publicUrl);
  readForwarded(app, trusted);
  checkHosts(app, service.settings);
  endWhenStopping(app);
  await letOriginsIn(app, service.settings);
  await limitRequests(app, service.settings, service.perMinute, service.counts);
  checkRequests(app, service);
  boundBodies(app);
  boundAnswers(app);
  readBodies(app);
  validateExactly(app, service.everyError);
  serializeOnFirstUse(app);
  answerProblems(app, service);
  if (service.documented) await describeRoutes(app, service);
  return app;
}

/** Compiles the serializer of an answer when the first one is sent: all of them would be an eighth of a start. */
function serializeOnFirstUse(app: Server): void {
  app.setSerializerCompiler(({ schema }) => {
    let serialize: ReturnType<typeof serializerOf> | undefined;
    return answer => {
      serialize ??= serializerOf(schema as Parameters<typeof serializerOf>[0]);
      return serialize(answer);
    };
  });
}

/** Request ids: a caller's own where it is plain, otherwise this process' random prefix and a count. */
function requestIds() {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return (request: { headers: Record<string, string | string[] | undefined> }): string => {
    const requestId = request.headers['x-request-id'];
    if (typeof requestId === 'string' && /^[\w.:-]{1,64}$/.test(requestId)) return requestId;
    count++;
    return `${prefix}-${count.toString(36)}`;
  };
}

function readBodies(app: Server): void {
  app.removeAllContentTypeParsers();
  const pace = pacer(READING_PER_TURN);
  app.addContentTypeParser(JSON_BODY, { parseAs: 'buffer' }, (request, bytes, done) => {
    if (isEncoded(request) || bytes.length > LARGE_TEXT) {
      decodeBody(request, bytes as Buffer)
        .then(decoded => readLargeBody(decoded, pace))
        .then(body => done(null, body), done);
      return;
    }
    try {
      done(null, readBody(bytes as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

function readBody(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : readJson(textOf(bytes));
}

async function readLargeBody(bytes: Buffer, pace: Pace): Promise<unknown> {
  if (bytes.length <= LARGE_TEXT) return readBody(bytes);
  const body = await readJsonInTurns(textOf(bytes), pace);
  // Validating and storing it takes about as long again: other requests come in between.
  await turn();
  return body;
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Problem('body.not_utf8');
  return bytes.toString('utf8');
}

function logRequests(app: Server): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  const isDebugging = ['debug', 'trace'].includes(app.log.level);
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply;
    // A passing 503 was logged with its cause, and in an outage there is one for every request.
    const isFailure = status >= 500 && status !== 503;
    if (isFailure || isDebugging) {
      const line = { method: request.method, path: pathOf(request), status, ms: reply.elapsedTime };
      request.log[isFailure ? 'error' : 'debug'](line, 'answered');
    }
    done();
  });
}

/** Seconds after which another process has taken over from one that stops, or the same one is back. */
const RESTART_SECONDS = 5;

/**
 * Refuses what arrives while the server stops, but for the question how it is, and ends its connections as they fall
 * idle. Node does that once, when the stop begins; those that were answering then would be kept alive, and the stop
 * would wait for clients that have nothing more to ask.
 */
function endWhenStopping(app: Server): void {
  let timer: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    timer = setInterval(() => app.server.closeIdleConnections(), 50);
  });
  app.addHook('onClose', async () => clearInterval(timer));
  app.addHook('onRequest', (request, reply, done) => {
    if (timer === undefined) return done();
    reply.header('connection', 'close');
    if (request.routeOptions.config.health) return done();
    done(new Problem('service.restarting', {}, { retryAfter: RESTART_SECONDS }));
  });
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
