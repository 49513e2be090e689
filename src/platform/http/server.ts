import type { AddressInfo } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressCounts } from '../limits/rate-limit.ts';
import type { Settings } from '../settings/settings.ts';
import type { HostSettings } from './hosts.ts';
import type { Problem } from './problems.ts';

type SecurityScheme =
  | { type: 'http'; scheme: 'bearer'; bearerFormat?: string; description?: string }
  | { type: 'apiKey'; in: 'cookie'; name: string; description?: string };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered to anyone, even where everything else asks who they are. */
    open?: boolean;
    /** Answered while the server stops, and exempt from the limits of an address. */
    health?: boolean;
  }
}

/** An id in the examples of the definition, for which the page puts what it has created itself. */
export interface ExampleId {
  /** the end of the path whose answer has the id */
  created: string;
  /** where the answer has it */
  at: readonly string[];
  /** the id in the examples */
  example: string;
}

/** The options in which the servers of the two services differ. */
export interface ServiceDescription {
  title: string;
  description: string;
  version: string;
  /** Whether it has an OpenAPI definition and a page that explains it. */
  documented: boolean;
  tags: { name: string; description: string }[];
  examples: readonly ExampleId[];
  /** Turns a problem into the service's error body, the same for every error that can happen. */
  errorBody: (problem: Problem) => object;
  /** The answers to wrong parameters or bodies, and to bodies of another media type, for the definition. */
  refusals?: Readonly<Record<400 | 415, object>>;
  /** WWW-Authenticate of a 401 (RFC 9110 §11.6.1). */
  challenge: (request: FastifyRequest) => string;
  /** Where the OpenAPI definition and the page that explains it are served. */
  definitionPath: string;
  pagePath: string;
  /** How requests say who they are, for the definition (OpenAPI security scheme objects by name). */
  securitySchemes: Record<string, SecurityScheme>;
  /** Whether errors of a body list everything that is wrong, or only the first error, which is faster. */
  everyError: boolean;
  /** How to treat query parameters that a route does not know. */
  unknownParameters: 'refused' | 'ignored';
  /** Bytes of a request body that no route allows more of by itself. */
  bodyLimit: number;
  /** The public URL, if configured. */
  publicUrl: string | undefined;
  /** Maximum requests of one client address per minute. */
  perMinute: number;
  /** Counts requests to routes with limits of their own, where there are any. */
  counts?: AddressCounts;
  logger: FastifyBaseLogger;
  settings: HostSettings & Pick<Settings, 'CORS_ORIGINS' | 'RATE_LIMIT' | 'STALL_SECONDS'>;
}

export type Server = FastifyInstance<
  import('node:http').Server,
  import('node:http').IncomingMessage,
  import('node:http').ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** The media types that are JSON, with or without parameters. */
export const JSON_BODY = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;

/** The media type of the answers that are JSON. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers with JSON that is a text already; the response schema documents it and does not write it. */
export function sendText(reply: FastifyReply, text: string, type: string = JSON_TYPE): FastifyReply {
  return reply.type(type).send(text);
}

/** The address of a server, as a URL without a trailing slash. */
export function listeningUrl(app: Server): string {
  const { address, port, family } = app.server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
