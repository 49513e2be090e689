import path from 'node:path';
import { SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import { migratePacketService, MOVED as PACKET } from '../packet-service/app.ts';
import { findReadable } from '../packet-service/collaboration/chat/messages/visible-store.ts';
import { appendAll } from '../packet-service/core/log/append-all.ts';
import { type Connection, connectionFromUrl } from '../platform/database/database.ts';
import { moveDatabase } from '../platform/database/move/move.ts';
import { findBinaries } from '../platform/embedded-postgres/binaries.ts';
import { startEmbeddedPostgres } from '../platform/embedded-postgres/index.ts';
import { lookAtEmbedded } from '../platform/embedded-postgres/look.ts';
import { EmbeddedPostgresError } from '../platform/embedded-postgres/refusals.ts';
import { migrateTraceBackend, MOVED as TRACE } from '../trace-backend/app.ts';
import { recordCommand } from './command-audit.ts';

/** A database as the role that owns the tables, and as that of the services: the same for an address. */
interface Opened {
  owner: Connection;
  connection: Connection;
  stop: () => Promise<void>;
}

/**
 * Moves the database of both services from one location to another, each an address or a DATA_DIR; then brings it up to
 * date. Prints each table when it is moved and, on a terminal, how far it is.
 *
 * @returns what was done, in words
 * @throws MoveError, MigrationError, EmbeddedPostgresError
 */
export async function move({ from, to }: { from: string; to: string }, logger: Logger): Promise<string> {
  const source = await openSource(from, logger);
  try {
    const target = await openTarget(to, logger);
    try {
      const { tables, rows, packets } = await moveTables(source.owner, target);
      if (packets) await migratePacketService(target.connection, target.owner);
      if (tables.some(name => name.startsWith(TRACE.schema)))
        await migrateTraceBackend(target.connection, target.owner);
      if (packets) await appendAll(target.connection, findReadable);
      await recordCommand(target.connection, 'move', {});
      const setting = isUrl(to) ? 'DATABASE_URL' : 'DATA_DIR';
      return (
        `moved ${tables.length} tables with ${rows.toLocaleString('en')} rows. Files are not moved: start the ` +
        `services with ${setting} set to the target and with the same files, then run fieldtrace verify`
      );
    } finally {
      await target.stop();
    }
  } finally {
    await source.stop();
  }
}

function isUrl(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location);
}

/**
 * It stays as it is, for the version that made it. A database of another major version is read from the server that
 * another fieldtrace keeps running.
 */
async function openSource(location: string, logger: Logger): Promise<Opened> {
  if (isUrl(location)) return asOneRole(connectionFromUrl(location));
  const dataDir = path.resolve(location);
  const { major, connection } = lookAtEmbedded(dataDir, new Date());
  if (major === undefined) throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} holds no database.`);
  if (major === findBinaries().major) return startEmbeddedPostgres({ dataDir, logger, asItIs: true });
  if (connection) return asOneRole(connection);
  throw new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} holds a database of PostgreSQL ${major}, which this fieldtrace cannot start: start the ` +
      'fieldtrace version that created it, and let it run until the move has ended.',
  );
}

async function openTarget(location: string, logger: Logger): Promise<Opened> {
  if (isUrl(location)) return asOneRole(connectionFromUrl(location));
  return startEmbeddedPostgres({ dataDir: path.resolve(location), logger });
}

function asOneRole(connection: Connection): Opened {
  return { connection, owner: connection, stop: async () => {} };
}

async function moveTables(source: Connection, target: Opened) {
  const tables: string[] = [];
  let rows = 0;
  const format = '{bar} {percentage}% {table}';
  const bar = new SingleBar({ format, noTTYOutput: false, stream: process.stderr });
  if (process.stderr.isTTY) bar.start(1, 0, { table: '' });
  try {
    const services = await moveDatabase({
      source,
      target: target.owner,
      queues: target.connection,
      services: [PACKET, TRACE],
      onTable(table) {
        tables.push(table.name);
        rows += Number(table.rows);
        bar.update({ table: table.name });
        if (!process.stderr.isTTY) console.error(`moved ${table.name}: ${table.rows} rows`);
      },
      onProgress({ copied, total }) {
        bar.setTotal(Math.max(copied, total));
        bar.update(copied);
      },
    });
    return { tables, rows, packets: services.includes(PACKET) };
  } finally {
    bar.stop();
  }
}
