import { pino } from 'pino';
import { consoleService } from '../../src/console/app.ts';
import { packetService } from '../../src/packet-service/app.ts';
import { packetPersonalData } from '../../src/packet-service/maintenance/personal-data/personal-data.ts';
import { openPool } from '../../src/platform/database/database.ts';
import { operatorPaths } from '../../src/platform/http/operator-routes.ts';
import { listeningUrl, type Server } from '../../src/platform/http/server.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';
import { prepareTraceBackend, traceBackend } from '../../src/trace-backend/app.ts';
import type { Role } from '../../src/trace-backend/base/access/role.ts';
import { insertUser, type Status } from '../../src/trace-backend/identity/users/store.ts';
import { build } from './build.ts';
import { asService, testDatabase } from './database.ts';
import { temporaryFolder } from './folder.ts';
import { type Send, sender } from './service.ts';
import { ADMIN, PASSWORD, PASSWORD_HASH } from './trace.ts';

/** The console, and the two services behind it, in this process. */
export interface RunningConsole {
  /** of the console */
  url: string;
  packetUrl: string;
  traceUrl: string;
  /** what DATA_DIR is */
  folder: string;
  send: Send;
  /** The services' routes for operators, below /packet and /trace. */
  operatorPaths: string[];
  /** Makes an active user; the password is PASSWORD. */
  newUser(role?: Role, name?: { name: string; surname: string }): Promise<{ id: number; email: string }>;
  /** Logs in without a browser. */
  login(email: string, password?: string): Promise<{ cookie: string; send: Send }>;
  /** Queries the tables of a service, as the role that owns them. */
  query(schema: 'packet_service' | 'trace_backend', text: string, values?: unknown[]): Promise<unknown[]>;
  stop(): Promise<void>;
}

let count = 0;

/**
 * A console on a free port, over a database of its own.
 *
 * @param built the folder of the built console, if it is another one
 */
export async function runningConsole(
  environment: Record<string, string> = {},
  built?: string,
): Promise<RunningConsole> {
  await build('console');
  const database = await testDatabase();
  const { connection } = database;
  const files = await temporaryFolder();
  const settings = readSettings({
    DATABASE_POOL: '4',
    DATA_DIR: files.folder,
    TRACE_ADMIN_EMAIL: ADMIN.username,
    TRACE_ADMIN_PASSWORD: ADMIN.password,
    ...environment,
  });
  const logger = pino({ level: environment.LOG_LEVEL ?? 'silent' });
  const role = asService(connection);
  await prepareTraceBackend(settings, role, logger);
  const packetData = packetPersonalData(settings, role);
  const context = { consoleUrl: () => (app.server.listening ? listeningUrl(app) : undefined) };
  const trace = await traceBackend(settings, role, logger, packetData, context);
  const { registry, instanceName } = trace;
  const packet = await packetService(settings, role, logger, registry, { ...context, instanceName });
  const app: Server = await consoleService(settings, { packet, trace: trace.app }, logger, built);
  for (const server of [packet, trace.app, app]) await server.listen({ host: '127.0.0.1', port: 0 });
  const [url, packetUrl, traceUrl] = [app, packet, trace.app].map(listeningUrl) as [string, string, string];
  const pools = {
    packet_service: database.pool,
    trace_backend: openPool(connection, 'trace_backend', 2),
  };
  const send = sender(url);
  return {
    url,
    packetUrl,
    traceUrl,
    folder: files.folder,
    send,
    operatorPaths: [
      ...operatorPaths(packet).map(path => `/packet${path}`),
      ...operatorPaths(trace.app).map(path => `/trace${path}`),
    ],
    async newUser(role = 'USER', name = { name: 'Ana', surname: 'Uwase' }) {
      const email = `user-${++count}-${process.pid}@example.org`;
      const who = { email, emailKey: email, ...name, language: 'EN' as const };
      const account = {
        status: 'ACTIVE' as Status,
        password: PASSWORD_HASH,
        createdAt: new Date(),
        emailConfirmedAt: new Date(),
      };
      const user = await insertUser(pools.trace_backend, { ...who, role, ...account });
      return { id: user?.id as number, email };
    },
    async login(email, password = PASSWORD) {
      const body = { username: email, password };
      const answer = await send('POST', '/trace/api/user/login', body, { origin: url });
      if (answer.status !== 200) throw new Error(answer.text);
      const cookie = answer.headers
        .getSetCookie()
        .map(line => line.split(';')[0])
        .join('; ');
      return {
        cookie,
        send: (method, path, body, headers = {}) =>
          send(method, path, body, { cookie, origin: url, ...headers }),
      };
    },
    query: async (schema, text, values = []) => (await pools[schema].query(text, values)).rows,
    async stop() {
      await app.close();
      await packet.close();
      await trace.app.close();
      await packetData.close();
      await pools.trace_backend.end();
      await database.drop();
      await files.remove();
    },
  };
}
