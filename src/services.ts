import type { ListenOptions } from 'node:net';
import type { Logger } from 'pino';
import { checkTables } from './commands/check-tables.ts';
import { consoleUrl, consoleUrlOfPackets } from './console/address.ts';
import { consoleService } from './console/app.ts';
import type { Listening } from './greeting.ts';
import { migratePacketService, packetService } from './packet-service/app.ts';
import { connectionsNeeded, SCHEMA as PACKET_SCHEMA } from './packet-service/core/pools.ts';
import { packetPersonalData } from './packet-service/maintenance/personal-data/personal-data.ts';
import { type Backups, openBackups } from './platform/backup/backups.ts';
import { oneRoleWarning } from './platform/database/check-roles.ts';
import { checkServer } from './platform/database/check-server.ts';
import { type Connection, withPool } from './platform/database/database.ts';
import type { OpenDatabase } from './platform/embedded-postgres/open-database.ts';
import { openFileStore } from './platform/files/index.ts';
import { checkFileStore } from './platform/files/store-id.ts';
import { listeningUrl, type Server } from './platform/http/server.ts';
import { watchEventLoop } from './platform/metrics/event-loop.ts';
import { beginRun } from './platform/runs/runs.ts';
import type { ProcessContext } from './platform/service/process-context.ts';
import type { Settings } from './platform/settings/settings.ts';
import { namesRegistry, type UserRegistry } from './platform/tokens/user-registry.ts';
import { workerNumber } from './platform/workers/worker.ts';
import { PORTS, SERVICE_NAMES, servicesOf, unusablePort } from './ports.ts';
import { uselessLinks } from './start-warnings.ts';
import type { Running } from './stopping.ts';
import {
  migrateTraceBackend,
  prepareTraceBackend,
  SCHEMA as TRACE_SCHEMA,
  traceBackend,
  traceConnections,
} from './trace-backend/app.ts';
import { waitForOutside } from './wait-for-outside.ts';

/**
 * Waits for the database, migrates it and starts the services that SERVICES names, and their backups.
 *
 * @param running gets all that has to be stopped, also when this throws
 * @throws SettingsError, MigrationError; errors of the database
 */
export async function startServices(
  settings: Settings,
  database: OpenDatabase,
  logger: Logger,
  running: Running,
): Promise<Listening> {
  // A supervisor has done it for all of its workers.
  if (workerNumber() === undefined) {
    await waitForOutside(settings, database.connection, logger);
    await checkDatabase(settings, database.connection, logger);
  }
  const [stopTracing, endRun] = await Promise.all([
    trace(settings, logger),
    beginRun(settings.DATA_DIR, logger),
  ]);
  let backups: Backups | undefined;
  running.database = {
    async stop() {
      await stopDatabase(database, backups);
      await Promise.all([stopTracing(), endRun()]);
    },
  };
  backups = openBackups(settings, database, logger);
  // Both are created before anything is changed, so that an invalid setting leaves the database unchanged.
  const listening: Listening = { packet: undefined, trace: undefined, console: undefined };
  const { connection, owner } = database;
  const shared = { connection, owner, backups, listening };
  const services = await makeServices(settings, shared, logger, running.servers);
  const pages = await makeConsole(settings, services, logger, running.servers);
  for (const { name, schema, migrate, app, port, logger: serviceLogger } of services) {
    logMigrations(serviceLogger, await migrate());
    await withPool(database.connection, schema, pool => checkFileStore(pool, openFileStore(settings)));
    await listen(app, settings.HOST, port, PORTS[name]);
    listening[name] = listeningUrl(app);
  }
  if (pages) {
    await listen(pages, settings.HOST, settings.CONSOLE_PORT, PORTS.console);
    listening.console = listeningUrl(pages);
  }
  await warnOfOneRole(settings, database.connection, logger);
  backups?.start();
  watchEventLoop(logger);
  for (const warning of uselessLinks(settings, listening, consoleUrl(settings, listening.console))) {
    logger.warn(warning);
  }
  return listening;
}

/**
 * Waits for the database, checks it for all workers, and migrates it, before any of them starts.
 *
 * @throws SettingsError, MigrationError; errors of the database
 */
export async function migrateServices(
  settings: Settings,
  { connection, owner }: Pick<OpenDatabase, 'connection' | 'owner'>,
  logger: Logger,
): Promise<void> {
  await waitForOutside(settings, connection, logger);
  await checkDatabase(settings, connection, logger);
  const migrate = { trace: migrateTraceBackend, packet: migratePacketService };
  for (const name of ['trace', 'packet'] as const) {
    if (!servicesOf(settings.SERVICES).includes(name)) continue;
    logMigrations(logger.child({ service: SERVICE_NAMES[name] }), await migrate[name](connection, owner));
  }
}

/** Logs all migrations in one line. */
function logMigrations(logger: Logger, migrations: readonly string[]): void {
  if (migrations.length > 0) logger.info({ migrations }, 'migrated');
}

/** Starts to trace requests if there is a collector; otherwise nothing of OpenTelemetry is loaded. */
async function trace(
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }: Settings,
  logger: Logger,
): Promise<() => Promise<void>> {
  if (endpoint === undefined) return async () => {};
  const { startTracing } = await import('./platform/tracing/tracing.ts');
  return startTracing(endpoint, logger);
}

/** Ships what the server has archived before it ended: a clean stop leaves nothing at risk. */
export async function stopDatabase(database: OpenDatabase, backups: Backups | undefined): Promise<void> {
  await backups?.pause();
  await database.stop();
  await backups?.finish();
}

interface Service {
  name: 'packet' | 'trace';
  schema: string;
  app: Server;
  port: number;
  /** Migrates its part of the database; returns the names of the migrations that ran now. */
  migrate: () => Promise<string[]>;
  /** whose lines carry the service's name */
  logger: Logger;
}

/** Shared by the services of a process. */
interface Shared extends Pick<OpenDatabase, 'connection' | 'owner'> {
  backups: Backups | undefined;
  /** filled when they listen */
  listening: Readonly<Listening>;
}

/** The services that SERVICES names, the trace backend first: it is the packet service's registry of users. */
async function makeServices(
  settings: Settings,
  { connection, owner, backups, listening }: Shared,
  logger: Logger,
  servers: Server[],
): Promise<Service[]> {
  const serves = new Set(servicesOf(settings.SERVICES));
  const services: Service[] = [];
  let registry: UserRegistry | undefined;
  let instanceName: ProcessContext['instanceName'];
  if (serves.has('trace')) {
    const serviceLogger = logger.child({ service: SERVICE_NAMES.trace });
    const packetData = namesRegistry(settings) ? undefined : packetPersonalData(settings, connection);
    const trace = await traceBackend(settings, connection, serviceLogger, packetData, {
      backups,
      consoleUrl: () => consoleUrl(settings, listening.console),
    });
    trace.app.addHook('onClose', async () => packetData?.close());
    servers.push(trace.app);
    registry = namesRegistry(settings) ? undefined : trace.registry;
    instanceName = trace.instanceName;
    const migrate = async () => {
      const names = await migrateTraceBackend(connection, owner);
      await prepareTraceBackend(settings, connection, serviceLogger);
      return names;
    };
    services.push({
      name: 'trace',
      schema: TRACE_SCHEMA,
      app: trace.app,
      port: settings.TRACE_PORT,
      migrate,
      logger: serviceLogger,
    });
  }
  if (serves.has('packet')) {
    const serviceLogger = logger.child({ service: SERVICE_NAMES.packet });
    const app = await packetService(settings, connection, serviceLogger, registry, {
      backups,
      consoleUrl: () => consoleUrlOfPackets(settings, listening.console),
      instanceName,
    });
    servers.push(app);
    const migrate = () => migratePacketService(connection, owner);
    services.push({
      name: 'packet',
      schema: PACKET_SCHEMA,
      app,
      port: settings.PACKET_PORT,
      migrate,
      logger: serviceLogger,
    });
  }
  return services;
}

/** The console, if SERVICES names it; the services wait for its requests when they stop. */
async function makeConsole(
  settings: Settings,
  services: Service[],
  logger: Logger,
  servers: Server[],
): Promise<Server | undefined> {
  if (!settings.SERVICES.includes('console')) return undefined;
  const serviceOf = (name: Service['name']) => services.find(service => service.name === name)?.app;
  const parts = { packet: serviceOf('packet'), trace: serviceOf('trace') };
  const app = await consoleService(settings, parts, logger.child({ service: SERVICE_NAMES.console }));
  servers.push(app);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  app.addHook('onClose', async () => resolve());
  for (const { app: service } of services) service.addHook('preClose', () => closed);
  return app;
}

/**
 * @throws SettingsError if the server has too few connections, or a pooler in between is in the wrong mode;
 * MigrationError if this version cannot work with the tables
 */
async function checkDatabase(settings: Settings, connection: Connection, logger: Logger): Promise<void> {
  const { SERVICES, DATABASE_URL, WORKERS } = settings;
  const needed =
    (SERVICES.includes('packet') ? connectionsNeeded(settings) : 0) +
    (SERVICES.includes('trace') ? traceConnections(settings) : 0);
  const finding = await checkServer(connection, WORKERS, needed, DATABASE_URL !== undefined);
  if (finding !== undefined) logger.warn(finding);
  await checkTables(connection);
}

/** Only for a server of the operator's own: the embedded one always has two roles. */
async function warnOfOneRole(settings: Settings, connection: Connection, logger: Logger): Promise<void> {
  if (settings.DATABASE_URL === undefined) return;
  const warning = await oneRoleWarning(connection, [PACKET_SCHEMA, TRACE_SCHEMA]);
  if (warning !== undefined) logger.warn(warning);
}

/** @throws SettingsError with the setting of the port */
async function listen(app: Server, host: string, port: number, setting: string): Promise<void> {
  try {
    // Workers listen on the same ports.
    const options: ListenOptions = { host, port, reusePort: workerNumber() !== undefined };
    await app.listen(options);
  } catch (error) {
    throw unusablePort(setting, { host, port }, error);
  }
}
