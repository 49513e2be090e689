import type { FastifyBaseLogger } from 'fastify';
import { type Connection, openPool } from '../platform/database.ts';
import { migrate } from '../platform/migrate.ts';
import { createServer, type Server } from '../platform/server.ts';
import type { Settings } from '../platform/settings.ts';
import { VERSION } from '../platform/version.ts';
import { authenticate } from './authentication.ts';
import { makeResolver } from './geoids/resolver.ts';
import { registerFields } from './geoids/routes.ts';
import { registerHealth } from './health/routes.ts';
import { forgetKeysHourly } from './idempotency/retention.ts';
import { registerIntake } from './intake/routes.ts';
import { batchWriter } from './packets/batch-writer.ts';
import { MAX_PACKET_BYTES } from './packets/packet.ts';
import { registerPackets } from './packets/routes.ts';

const SCHEMA = 'packet_service';

/** Brings the packet service's tables up to date; returns the names of the migrations that ran now. */
export function migratePacketService(connection: Connection): Promise<string[]> {
  return migrate(connection, SCHEMA, new URL('./migrations/', import.meta.url));
}

/**
 * The packet service over a migrated database, ready to listen. Closing it answers what is in flight, writes
 * what waits, and closes its connections.
 */
export async function packetService(
  settings: Settings,
  connection: Connection,
  logger: FastifyBaseLogger,
): Promise<Server> {
  const pool = openPool(connection, SCHEMA, settings.DATABASE_POOL);
  const writerPool = openPool(connection, SCHEMA, settings.WRITER_LANES, { pipeline: true });
  const writer = batchWriter(writerPool, settings.WRITER_LANES, logger);
  const resolver = makeResolver(settings, pool);

  const app = await createServer({
    title: 'fieldtrace packet service',
    description: 'Field observations and chat messages as immutable, hashed packets, each tied to a GeoID.',
    version: VERSION,
    definitionPath: '/openapi.json',
    pagePath: '/docs',
    tags: [
      { name: 'Intake', description: 'what comes from the field' },
      { name: 'Packets', description: 'what was stored' },
      { name: 'GeoIDs', description: 'the built-in registry of fields' },
      { name: 'Health', description: 'whether it works' },
    ],
    errorBody: problem => ({ error: problem.message }),
    bodyLimit: MAX_PACKET_BYTES,
    logger,
    trustProxy: settings.TRUST_PROXY,
  });

  authenticate(app, settings);
  registerHealth(app, { pool, version: VERSION });
  registerIntake(app, { pool, writer, resolver });
  registerPackets(app, { pool, writer });
  registerFields(app, { pool, settings });

  const stopForgetting = forgetKeysHourly(pool, logger);
  app.addHook('onClose', async () => {
    stopForgetting();
    await writer.drain();
    await Promise.all([pool.end(), writerPool.end()]);
  });
  return app;
}
