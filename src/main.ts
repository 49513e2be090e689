import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pino } from 'pino';
import { migratePacketService, packetService } from './packet-service/app.ts';
import { type Connection, connectionFromUrl, isTransient } from './platform/database.ts';
import { EmbeddedPostgresError, startEmbeddedPostgres } from './platform/embedded-postgres/index.ts';
import { MigrationError } from './platform/migrate.ts';
import type { Server } from './platform/server.ts';
import { readSettings, type Settings, SettingsError } from './platform/settings.ts';

/** Longest that a stop waits for requests in flight, in milliseconds. */
const STOP_PATIENCE_MS = 15_000;

/** Starts what the settings name, and stops it cleanly on SIGTERM and SIGINT. */
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const logger = pino({ level: settings.LOG_LEVEL, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  warnOfOpenDoors(settings, logger);

  const database = await openDatabase(settings, logger);
  let server: Server | undefined;
  const stop = stopOnSignals(logger, async () => {
    await server?.close();
    await database.stop();
  });
  try {
    for (const name of await migratePacketService(database.connection))
      logger.info({ migration: name }, 'migrated');
    server = await packetService(settings, database.connection, logger);
    await server.listen({ host: settings.HOST, port: settings.PACKET_PORT });
    greet(server);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openDatabase(
  settings: Settings,
  logger: pino.Logger,
): Promise<{ connection: Connection; stop: () => Promise<void> }> {
  if (settings.DATABASE_URL) {
    return { connection: connectionFromUrl(settings.DATABASE_URL), stop: async () => {} };
  }
  return startEmbeddedPostgres({ dataDir: path.resolve(settings.DATA_DIR), logger });
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

/** Says it where anyone on the network could reach a service that does not ask who they are. */
function warnOfOpenDoors({ HOST, AUTH_MODE }: Settings, logger: pino.Logger): void {
  const loopback = /^(127\.|::1$|localhost$)/.test(HOST);
  if (loopback || AUTH_MODE === 'required') return;
  logger.warn(
    { HOST, AUTH_MODE },
    'ANYONE WHO REACHES THIS ADDRESS CAN READ AND WRITE: set AUTH_MODE=required, or HOST=127.0.0.1 behind a proxy that checks tokens',
  );
}

function greet(server: Server): void {
  const { address, port, family } = server.server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  console.log(`
fieldtrace packet service  ${url}
its documentation          ${url}/docs

Send it a first observation:

  curl ${url}/intake/scouting -H 'content-type: application/json' \\
    -d '{"observed_at":"2026-03-01T08:15:00Z","capture_point":{"lat":40.7128,"lon":-74.006},"message":"Leaf rust"}'
`);
}

/** What keeps the program from starting, in words for whoever starts it; a stack only where we know none. */
function explain(error: Error & { code?: string; port?: number; syscall?: string }): string {
  const expected = [SettingsError, MigrationError, EmbeddedPostgresError].some(kind => error instanceof kind);
  if (expected) return error.message;
  if (error.syscall === 'listen')
    return `PACKET_PORT ${error.port} on HOST cannot be listened on: ${error.code}`;
  if (isTransient(error) || /^(28|3D)/.test(error.code ?? ''))
    return `DATABASE_URL: ${error.message || error.code}`;
  return error.stack ?? String(error);
}

main().catch((error: Error) => {
  console.error(`fieldtrace cannot start: ${explain(error)}`);
  process.exit(1);
});
