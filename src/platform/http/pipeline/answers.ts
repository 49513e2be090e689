import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { isEncoded, READABLE_ENCODINGS } from '../encoding.ts';
import { toProblem } from '../failures.ts';
import { hasNoOperatorRoutes, noteOperatorRoutes } from '../operator-routes.ts';
import { prefersPage, problemPage, sendHtml, varyOf } from '../page.ts';
import { Problem } from '../problems.ts';
import { REASON_HEADER, reasonHeader } from '../reasons/header.ts';
import { JSON_TYPE, type Server, type ServiceDescription } from '../server.ts';
import { closeAfterAnswer, closeUnreadable, isUnfinished } from './discard.ts';
import { OF_REFUSALS } from './security-headers.ts';

/**
 * Answers whatever is thrown in the service's own error body, and requests to what is not there: to unknown paths, and
 * to routes for operators if the request was forwarded for a browser.
 */
export function answerProblems(app: Server, service: ServiceDescription): void {
  const routes: { method: string; pattern: RegExp; operator: boolean }[] = [];
  noteOperatorRoutes(app);
  app.addHook('onRoute', ({ method, url, config }) => {
    // A plugin's answer to preflights, which is no endpoint.
    if (url === '*') return;
    const pattern = new RegExp(
      `^${url
        .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:[^/]+/g, '[^/]+')
        .replace('*', '.*')}/?$`,
    );
    for (const name of [method].flat()) {
      routes.push({ method: name, pattern, operator: config?.operator === true });
    }
  });

  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500) request.log.error({ err: error, cause: problem.cause }, 'request failed');
    if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter);
    if (problem.status === 401 && !reply.hasHeader('www-authenticate')) {
      reply.header('www-authenticate', service.challenge(request));
    }
    if (problem.status === 415 && isEncoded(request) && !reply.hasHeader('accept-encoding')) {
      reply.header('accept-encoding', READABLE_ENCODINGS);
    }
    if (isUnfinished(request.raw)) {
      reply.header('connection', 'close');
      closeAfterAnswer(request.raw);
    }
    const reasons = reasonHeader(problem.faults);
    if (reasons !== undefined) reply.header(REASON_HEADER, reasons);
    reply.code(problem.status);
    if (request.routeOptions.config.forPeople && prefersPage(request.headers.accept))
      return sendHtml(reply.header('vary', varyOf(reply)), problemPage(problem));
    return reply.type(JSON_TYPE).send(service.errorBody(problem));
  });

  const answerNotFound = (request: FastifyRequest, reply: FastifyReply): never => {
    const path = request.url.split('?')[0] ?? '';
    const isHidden = hasNoOperatorRoutes(request);
    const fitting = routes.filter(({ pattern, operator }) => pattern.test(path) && !(isHidden && operator));
    const methods = [...new Set(fitting.map(({ method }) => method))];
    // A path with a parameter that the router does not take fits its pattern, too.
    if (methods.length === 0 || methods.includes(request.method))
      throw new Problem('request.unknown_path', { path: path.slice(0, 200) });
    reply.header('allow', methods.join(', '));
    throw new Problem('request.wrong_method', {
      path: path.slice(0, 200),
      methods: methods.join(', '),
      method: request.method,
    });
  };
  app.setNotFoundHandler(answerNotFound);
  // Before the body is read: what is not there takes none.
  app.addHook('onRequest', (request, reply, done) => {
    const { is404, routeOptions } = request;
    if (is404 || (routeOptions.config.operator && hasNoOperatorRoutes(request)))
      answerNotFound(request, reply);
    done();
  });
}

/** The headers of a failure that no hook runs for. */
function headersOf({ faults }: Problem, body: string): Record<string, string | number> {
  const reasons = reasonHeader(faults);
  return {
    ...OF_REFUSALS,
    ...(reasons !== undefined && { [REASON_HEADER]: reasons }),
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
  };
}

/** Connections whose last request was answered by {@link answerUnroutable} although its body is not all here. */
const unroutable = new WeakSet<Socket>();

/** Answers what the router cannot read; no hook runs for it. */
export function answerUnroutable(
  service: ServiceDescription,
  error: FastifyError,
  { raw: request }: FastifyRequest,
  { raw: response }: FastifyReply,
): void {
  const problem = toProblem(error);
  const body = JSON.stringify(service.errorBody(problem));
  const unfinished = isUnfinished(request);
  if (unfinished) {
    unroutable.add(request.socket);
    closeAfterAnswer(request);
  }
  response.writeHead(problem.status, {
    ...headersOf(problem, body),
    ...(unfinished && { connection: 'close' }),
  });
  response.end(body);
}

/** Tells whether the answer to a connection's last request has begun although its body is not all here. */
export type IsAnswered = (socket: Socket) => boolean;

/** Answers what Node could not even parse as HTTP; nothing of fastify runs for it. */
export function answerUnreadable(
  service: ServiceDescription,
  error: Error & { code?: string },
  socket: Socket,
  isAnswered: IsAnswered,
): void {
  // Data after such a request are invalid, too; it was answered once.
  if (socket.writableEnded && !socket.errored) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // The route has answered before the body turned out to be unreadable.
  if (isAnswered(socket) || unroutable.has(socket)) {
    closeUnreadable(socket);
    return;
  }
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Problem('request.headers_too_large')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new Problem('request.too_slow')
        : new Problem('request.not_http');
  const body = JSON.stringify(service.errorBody(problem));
  const headers = {
    ...headersOf(problem, body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${problem.status} ${problem.code}\r\n${lines.join('')}\r\n${body}`);
  closeUnreadable(socket);
}
