import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hideOperatorRoutes } from '../platform/http/operator-routes.ts';
import { Problem } from '../platform/http/problems.ts';
import type { Server } from '../platform/http/server.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { namesRegistry } from '../platform/tokens/user-registry.ts';
import { bearToken, checkOrigin, cookieForConsole } from './session.ts';

/** The services that run in this process. */
export interface Services {
  packet: Server | undefined;
  trace: Server | undefined;
}

/**
 * Hands requests below /packet and /trace to the services in this process, with the connection itself: bodies, streams,
 * live feeds and aborted requests work as if the service had been asked directly, and its limits count. Routes for operators (`config.operator`) are
 * not reached this way: they answer like unknown paths.
 */
export function registerForwarding(app: Server, services: Services, settings: Settings): void {
  const missing = {
    packet: namesRegistry(settings) ? 'console.foreign_registry' : 'console.packet_service_missing',
    trace: 'console.trace_backend_missing',
  } as const;
  for (const name of ['packet', 'trace'] as const) {
    const isUsable = name === 'trace' || !namesRegistry(settings);
    const service = isUsable ? services[name] : undefined;
    app.all(
      `/${name}/*`,
      {
        exposeHeadRoute: false,
        onRequest: (request, reply, done) => {
          const own = `${request.protocol}://${request.host}`;
          try {
            if (!service) throw new Problem(missing[name]);
            checkOrigin(request.raw, own);
            if (name === 'packet') bearToken(request.raw);
          } catch (error) {
            done(error as Error);
            return;
          }
          handOver(request, reply, `/${name}`, service);
        },
      },
      notReached,
    );
  }
}

/** Every request is handed over, or refused, before it gets here. */
function notReached(): never {
  throw new Error('the request was neither handed over nor refused');
}

function handOver(
  { raw, protocol }: FastifyRequest,
  reply: FastifyReply,
  prefix: string,
  service: Server,
): void {
  reply.hijack();
  const rest = (raw.url as string).slice(prefix.length);
  adaptHeaders(reply.raw, headers => {
    const { 'set-cookie': cookies, location } = headers;
    if (cookies !== undefined) {
      headers['set-cookie'] = [cookies]
        .flat()
        .map(line => cookieForConsole(String(line), protocol === 'https'));
    }
    if (typeof location === 'string' && /^\/(?!\/)/.test(location)) headers.location = `${prefix}${location}`;
  });
  raw.url = rest;
  hideOperatorRoutes(raw);
  service.routing(raw, reply.raw);
}

/** Has the headers of an answer changed when they are written. */
function adaptHeaders(response: ServerResponse, adapt: (headers: OutgoingHttpHeaders) => void): void {
  const writeHead = response.writeHead.bind(response) as (...words: unknown[]) => ServerResponse;
  response.writeHead = (...words: unknown[]) => {
    const headers = words.at(-1);
    if (typeof headers === 'object' && headers !== null) adapt(headers as OutgoingHttpHeaders);
    return writeHead(...words);
  };
}
