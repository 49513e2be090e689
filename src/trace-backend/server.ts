import type { FastifyBaseLogger } from 'fastify';
import { createServer } from '../platform/http/pipeline/create-server.ts';
import type { Server } from '../platform/http/server.ts';
import type { AddressCounts } from '../platform/limits/rate-limit.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { VERSION } from '../platform/version.ts';
import { failure, failures } from './base/contract/envelope.ts';
import { EXAMPLE_COMPANY } from './base/contract/schemas.ts';

/** Maximum requests of a client address per minute. */
const PER_MINUTE = 1200;
const BODY_LIMIT = 1024 * 1024;

/**
 * WWW-Authenticate of calls that need a login. No scheme is registered for cookies; this one was proposed for
 * them.
 */
const LOG_IN = 'Cookie realm="fieldtrace", form-action="/api/user/login", cookie-name="trace-accessToken"';

/** The server of the trace backend, before its routes. */
export function createTraceServer(
  settings: Settings,
  logger: FastifyBaseLogger,
  counts: AddressCounts,
): Promise<Server> {
  return createServer({
    title: 'fieldtrace trace backend',
    description:
      'Users, companies, products, images and currencies of a value chain. In bodies, numbers and booleans may be strings ("4.20", "true"); null is the same as absent, and an empty string clears a field.',
    version: VERSION,
    documented: true,
    definitionPath: '/v3/api-docs',
    pagePath: '/',
    tags: [
      { name: 'Company', description: 'companies of a value chain, and their users' },
      { name: 'Product', description: 'products, their origin and history' },
      { name: 'Label', description: 'public pages about products' },
      { name: 'Value chain', description: 'value chains and their codes' },
      { name: 'Code list', description: 'kinds of facilities, units, evidence, semi-products and products' },
      { name: 'Image', description: 'images and documents of records' },
      { name: 'Setting', description: 'settings of the front end' },
      { name: 'Currency', description: 'exchange rates and conversion' },
      { name: 'User', description: 'accounts and sessions' },
      { name: 'Administration', description: 'administration of users' },
      { name: 'Audit', description: 'the audit' },
      { name: 'Registry', description: 'user registry of the packet service' },
      { name: 'Health', description: 'health and readiness' },
    ],
    examples: [{ created: '/api/company/create', at: ['data', 'id'], example: EXAMPLE_COMPANY }],
    securitySchemes: {
      cookie: {
        type: 'apiKey',
        in: 'cookie',
        name: 'trace-accessToken',
        description: 'set by POST /api/user/login, valid for an hour',
      },
      token: {
        type: 'http',
        scheme: 'bearer',
        description:
          'a key for programs (POST /api/user/api-keys), or an access token (POST /api/user/token). A key needs the scope read for safe methods, write for others, admin for administration',
      },
    },
    errorBody: failure,
    refusals: failures,
    challenge: ({ headers }) =>
      headers.authorization?.startsWith('Bearer ') ? 'Bearer error="invalid_token"' : LOG_IN,
    everyError: true,
    unknownParameters: 'ignored',
    bodyLimit: BODY_LIMIT,
    publicUrl: settings.TRACE_PUBLIC_URL,
    perMinute: PER_MINUTE,
    counts,
    logger,
    settings,
  });
}
