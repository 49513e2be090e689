import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { packetPersonalData } from '../../src/packet-service/maintenance/personal-data/personal-data.ts';
import { openPool } from '../../src/platform/database/database.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';
import type { UserRegistry } from '../../src/platform/tokens/user-registry.ts';
import { prepareTraceBackend, traceBackend } from '../../src/trace-backend/app.ts';
import type { Role } from '../../src/trace-backend/base/access/role.ts';
import { insertUser, type Status } from '../../src/trace-backend/identity/users/store.ts';
import { asService, testDatabase } from './database.ts';
import { temporaryFolder } from './folder.ts';
import { type Answer, type RunningService, sender } from './service.ts';

export const ADMIN = { username: 'admin@example.org', password: 'an administrator' };
/** The password of every user that `loggedIn` makes. */
export const PASSWORD = 'correct horse battery staple';
/** Its hash, with the lowest cost that Argon2id has: tests log in thousands of times, and the check is the real one. */
export const PASSWORD_HASH =
  '$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$yuD2H5PR1k40noDgIpVNKqoS7GJ4ncWdetRratfGGQU';

/** A user who is logged in: requests made by it carry its cookie. */
export interface LoggedIn {
  id: number;
  email: string;
  cookie: string;
  send: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
}

export interface RunningTrace extends RunningService {
  registry: UserRegistry;
  /** what DATA_DIR is */
  folder: string;
  /** Makes a user and logs in. */
  loggedIn(role?: Role): Promise<LoggedIn>;
  login(username: string, password: string): Promise<LoggedIn>;
}

let count = 0;

/** A trace backend on a free port over a database of its own, or over the one given. */
export async function runningTrace(
  environment: Record<string, string> = {},
  shared?: Pick<RunningService, 'connection'>,
): Promise<RunningTrace> {
  const database = shared ? undefined : await testDatabase();
  const connection = shared?.connection ?? (database as { connection: object }).connection;
  const files = await temporaryFolder();
  const settings = readSettings({
    TRACE_PORT: '0',
    DATABASE_POOL: '4',
    DATA_DIR: files.folder,
    TRACE_ADMIN_EMAIL: ADMIN.username,
    TRACE_ADMIN_PASSWORD: ADMIN.password,
    ...environment,
  });
  const logger = pino({ level: 'silent' });
  const role = asService(connection);
  await prepareTraceBackend(settings, role, logger);
  const packetData = packetPersonalData(settings, role);
  const { app, registry } = await traceBackend(settings, role, logger, packetData);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const pool = openPool(connection, 'trace_backend', 4);
  const send = sender(url);

  async function login(username: string, password: string): Promise<LoggedIn> {
    const answer = await send('POST', '/api/user/login', { username, password });
    if (answer.status !== 200) throw new Error(answer.text);
    const cookie = /^[^;]+/.exec(answer.headers.getSetCookie()[0] as string)?.[0] as string;
    return {
      id: answer.body.data.id,
      email: username,
      cookie,
      send: (method, path, body, headers = {}) => send(method, path, body, { cookie, ...headers }),
    };
  }

  return {
    url,
    send,
    pool,
    connection,
    connections: () => promisify(app.server.getConnections.bind(app.server))(),
    registry,
    folder: files.folder,
    login,
    async loggedIn(role = 'USER') {
      const email = `user-${++count}-${process.pid}@example.org`;
      const who = { email, emailKey: email, name: 'Ana', surname: 'Uwase', language: 'EN' as const };
      const user = {
        ...who,
        role,
        status: 'ACTIVE' as Status,
        password: PASSWORD_HASH,
        createdAt: new Date(),
        emailConfirmedAt: new Date(),
      };
      await insertUser(pool, user);
      return login(email, PASSWORD);
    },
    async stop() {
      await app.close();
      await packetData.close();
      await pool.end();
      await database?.drop();
      await files.remove();
    },
  };
}
