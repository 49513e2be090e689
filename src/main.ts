import { pino } from 'pino';
import { migratePacketService, packetService } from './packet-service/app.ts';
import { reachableBecause } from './platform/http/hosts.ts';
import { listeningUrl, type Server } from './platform/http/server.ts';
import type { Connection } from './platform/postgres/database.ts';
import { EmbeddedPostgresError } from './platform/postgres/embedded/index.ts';
import { MigrationError } from './platform/postgres/migrate.ts';
import { openDatabase } from './platform/postgres/open-database.ts';
import { passingTrouble } from './platform/postgres/troubles.ts';
import { readSettings, type Settings, SettingsError, shortSecrets } from './platform/settings.ts';
import type { UserRegistry } from './platform/tokens/user-registry.ts';
import { migrateTraceBackend, prepareTraceBackend, traceBackend } from './trace-backend/app.ts';

/** Longest that a stop waits for requests in flight, in milliseconds. */
const STOP_PATIENCE_MS = 15_000;

/** Starts what the settings name, and stops it cleanly on SIGTERM and SIGINT. */
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const logger = pino({ level: settings.LOG_LEVEL, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  warnOfOpenDoors(settings, logger);
  for (const name of shortSecrets(settings)) logger.warn(`${name} has fewer than 32 bytes: set a longer one`);

  const database = await openDatabase(settings, logger);
  const servers: Server[] = [];
  const stop = stopOnSignals(logger, async () => {
    await Promise.all(servers.map(server => server.close()));
    await database.stop();
  });
  try {
    // Both are made before anything is changed: a setting that either refuses leaves the database as it is.
    const services = await makeServices(settings, database.connection, logger, servers);
    for (const { name, migrate, app, port } of services) {
      for (const migration of await migrate()) logger.info({ service: name, migration }, 'migrated');
      await listen(app, settings.HOST, port, name === 'packet' ? 'PACKET_PORT' : 'TRACE_PORT');
    }
    greet(services);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws SettingsError that names the setting of the port */
async function listen(app: Server, host: string, port: number, setting: string): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall !== 'listen') throw error;
    throw new SettingsError(`${setting} ${port} on HOST cannot be listened on: ${code}`);
  }
}

interface Service {
  name: 'packet' | 'trace';
  app: Server;
  port: number;
  /** Brings its part of the database up to date; returns the names of the migrations that ran now. */
  migrate: () => Promise<string[]>;
}

/** The services that SERVICES names, the trace backend first: it is the packet service's registry of users. */
async function makeServices(
  settings: Settings,
  connection: Connection,
  logger: pino.Logger,
  servers: Server[],
): Promise<Service[]> {
  const serves = new Set(settings.SERVICES.split(','));
  const services: Service[] = [];
  let registry: UserRegistry | undefined;
  if (serves.has('trace')) {
    const trace = await traceBackend(settings, connection, logger);
    servers.push(trace.app);
    registry = namesRegistry(settings) ? undefined : trace.registry;
    const migrate = async () => {
      const names = await migrateTraceBackend(connection);
      await prepareTraceBackend(settings, connection, logger);
      return names;
    };
    services.push({ name: 'trace', app: trace.app, port: settings.TRACE_PORT, migrate });
  }
  if (serves.has('packet')) {
    const app = await packetService(settings, connection, logger, registry);
    servers.push(app);
    const migrate = () => migratePacketService(connection);
    services.push({ name: 'packet', app, port: settings.PACKET_PORT, migrate });
  }
  return services;
}

/** Whether the settings name a registry of users, which then counts instead of the trace backend beside. */
function namesRegistry(settings: Settings): boolean {
  const { USER_REGISTRY_JWT_SECRET, USER_REGISTRY_JWKS_URL, USER_REGISTRY_URL } = settings;
  return (USER_REGISTRY_JWT_SECRET ?? USER_REGISTRY_JWKS_URL ?? USER_REGISTRY_URL) !== undefined;
}

/** Runs `close` once, at the first signal; a second signal, or too long a wait, ends the process at once. */
function stopOnSignals(logger: pino.Logger, close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const stop = () => {
    closing ??= close();
    return closing;
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (closing) process.exit(1);
      logger.info({ signal }, 'stopping: requests in flight are answered first');
      const deadline = setTimeout(() => {
        logger.error(`not stopped after ${STOP_PATIENCE_MS} ms, ending`);
        process.exit(1);
      }, STOP_PATIENCE_MS);
      stop().then(
        () => {
          clearTimeout(deadline);
          process.exit(0);
        },
        error => {
          logger.error({ err: error }, 'the stop failed');
          process.exit(1);
        },
      );
    });
  }
  return stop;
}

/** Says it where others than this machine could reach a packet service that does not ask everyone for a token. */
function warnOfOpenDoors(settings: Settings, logger: pino.Logger): void {
  const { SERVICES, AUTH_MODE } = settings;
  const because = reachableBecause(settings);
  if (because === undefined || AUTH_MODE === 'required' || !SERVICES.includes('packet')) return;
  const open = AUTH_MODE === 'off' ? 'EVERYTHING' : 'WHAT IS MADE WITHOUT TOKENS, ALL OBSERVATIONS AMONG IT';
  logger.warn(
    { AUTH_MODE, because },
    `ANYONE WHO REACHES THIS ADDRESS CAN READ AND WRITE ${open}: set AUTH_MODE=required unless that is meant`,
  );
}

function greet(services: Service[]): void {
  const urls = new Map(services.map(({ name, app }) => [name, listeningUrl(app)]));
  const packet = urls.get('packet');
  const trace = urls.get('trace');
  if (packet) {
    console.log(`
fieldtrace packet service  ${packet}
its documentation          ${packet}/docs`);
  }
  if (trace) {
    console.log(`
fieldtrace trace backend   ${trace}
its documentation          ${trace}/`);
  }
  if (packet) {
    console.log(`
Send it a first observation:

  curl ${packet}/intake/scouting -H 'content-type: application/json' \\
    -d '{"observed_at":"2026-03-01T08:15:00Z","capture_point":{"lat":40.7128,"lon":-74.006},"message":"Leaf rust"}'
`);
  }
}

/** What keeps the program from starting, in words for whoever starts it; a stack only where we know none. */
function explain(error: Error & { code?: string }): string {
  const expected = [SettingsError, MigrationError, EmbeddedPostgresError].some(kind => error instanceof kind);
  if (expected) return error.message;
  if (passingTrouble(error) || /^(28|3D)/.test(error.code ?? ''))
    return `DATABASE_URL: ${error.message || error.code}`;
  return error.stack ?? String(error);
}

main().catch((error: Error) => {
  console.error(`fieldtrace cannot start: ${explain(error)}`);
  process.exit(1);
});
