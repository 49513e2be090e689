import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For the operator's own programs, such as monitoring: the console does not forward it, and proxies refuse it. */
    operator?: boolean;
  }
}

/** Requests that a server forwarded for browsers, with the connection itself. */
const forwarded = new WeakSet<IncomingMessage>();
const paths = new WeakMap<FastifyInstance, Set<string>>();

/** Marks a request of a browser: routes for operators answer it as if they did not exist. */
export function hideOperatorRoutes(request: IncomingMessage): void {
  forwarded.add(request);
}

/** Whether operators' routes do not exist for this request. */
export function hasNoOperatorRoutes({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return forwarded.has(raw);
}

/** Has a server note its routes for operators. Called before any route is registered. */
export function noteOperatorRoutes(app: FastifyInstance): void {
  const operatorPaths = new Set<string>();
  paths.set(app, operatorPaths);
  app.addHook('onRoute', ({ config, url }) => {
    if (config?.operator) operatorPaths.add(url);
  });
}

/** The paths of a server's routes for operators, such as `/metrics`. */
export function operatorPaths(app: FastifyInstance): string[] {
  return [...(paths.get(app) ?? [])];
}
