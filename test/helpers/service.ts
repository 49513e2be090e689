import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type pg from 'pg';
import { type Logger, pino } from 'pino';
import { inject } from 'vitest';
import { packetService } from '../../src/packet-service/app.ts';
import type { Connection } from '../../src/platform/database/database.ts';
import { parseJsonText } from '../../src/platform/json-text.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';
import type { UserRegistry } from '../../src/platform/tokens/user-registry.ts';
import { asService, type ServiceRole, testDatabase } from './database.ts';
import { checkWatched, watchStatements } from './distributed-statements.ts';
import { temporaryFolder } from './folder.ts';
import { checkReasons } from './operation-reasons.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** the body as sent */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, whatever their shape
  body: any;
}

/** Sends one request; a body that is not a string or bytes goes as JSON. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

export interface RunningService {
  url: string;
  send: Send;
  /** of the role that owns the tables, which the service is not */
  pool: pg.Pool;
  connection: Connection;
  /** how many connections of clients it has */
  connections(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * A packet service on a free port over a database of its own, or over the one given.
 *
 * @param registry of its users, as when one process serves both services
 * @param role that the service has on a server of the test's own
 */
export async function runningService(
  environment: Record<string, string> = {},
  shared?: Pick<RunningService, 'connection'> & Partial<RunningService>,
  {
    logger = pino({ level: 'silent' }),
    registry,
    role,
  }: { logger?: Logger; registry?: UserRegistry; role?: ServiceRole } = {},
): Promise<RunningService> {
  const database = shared ? undefined : await testDatabase();
  watchStatements(inject('serviceRole').user);
  const connection = shared?.connection ?? (database as { connection: Connection }).connection;
  const files = await temporaryFolder();
  const settings = readSettings({
    PACKET_PORT: '0',
    DATABASE_POOL: '4',
    DATA_DIR: files.folder,
    ...environment,
  });
  const app = await packetService(
    settings,
    role ? { ...connection, ...role } : asService(connection),
    logger,
    registry,
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    send: sender(url),
    pool: (shared?.pool ?? database?.pool) as pg.Pool,
    connection,
    connections: () => promisify(app.server.getConnections.bind(app.server))(),
    async stop() {
      await app.close();
      await database?.drop();
      await files.remove();
      checkWatched(connection.database ?? '');
    },
  };
}

export function sender(url: string): Send {
  return async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    checkReasons(method, path, response.headers.get('fieldtrace-reason'));
    const text = await response.text();
    const isJson = /\/([\w.]+\+)?json/.test(response.headers.get('content-type') ?? '') && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? parseJsonText(text) : undefined,
    };
  };
}
