import path from 'node:path';
import { SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import { recordCommand } from './command-audit.ts';
import { migratePacketService, MOVED as PACKET } from './packet-service/app.ts';
import { appendAll } from './packet-service/log/append-all.ts';
import { type Connection, connectionFromUrl } from './platform/postgres/database.ts';
import { startEmbeddedPostgres } from './platform/postgres/embedded/index.ts';
import { otherMajorIn } from './platform/postgres/embedded/running.ts';
import { moveDatabase } from './platform/postgres/move/move.ts';
import { migrateTraceBackend, MOVED as TRACE } from './trace-backend/app.ts';

interface Opened {
  connection: Connection;
  stop: () => Promise<void>;
}

/**
 * Moves the database of both services from one place to another, each an address or a DATA_DIR; then brings it up to
 * date. Prints each table when it is moved and, on a terminal, how far it is.
 *
 * @returns what was done, in words
 * @throws MoveError, MigrationError, EmbeddedPostgresError
 */
export async function move({ from, to }: { from: string; to: string }, logger: Logger): Promise<string> {
  const source = await open(from, logger, otherMajorIn);
  try {
    const target = await open(to, logger);
    try {
      const { tables, rows, packets } = await moveTables(source.connection, target.connection);
      if (packets) await migratePacketService(target.connection);
      if (tables.some(name => name.startsWith(TRACE.schema))) await migrateTraceBackend(target.connection);
      if (packets) await appendAll(target.connection);
      await recordCommand(target.connection, 'move', {});
      const setting = isUrl(to) ? 'DATABASE_URL' : 'DATA_DIR';
      return (
        `moved ${tables.length} tables with ${rows.toLocaleString('en')} rows. The files are not moved: start the ` +
        `services with ${setting} set to the target and with the files of before, then run fieldtrace verify`
      );
    } finally {
      await target.stop();
    }
  } finally {
    await source.stop();
  }
}

function isUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/** @param elsewhere how a DATA_DIR is reached whose server cannot be started by this fieldtrace */
async function open(
  place: string,
  logger: Logger,
  elsewhere: (dataDir: string) => Connection | undefined = () => undefined,
): Promise<Opened> {
  const stop = async () => {};
  if (isUrl(place)) return { connection: connectionFromUrl(place), stop };
  const dataDir = path.resolve(place);
  const connection = elsewhere(dataDir);
  return connection ? { connection, stop } : startEmbeddedPostgres({ dataDir, logger });
}

async function moveTables(source: Connection, target: Connection) {
  const tables: string[] = [];
  let rows = 0;
  const format = '{bar} {percentage}% {table}';
  const bar = new SingleBar({ format, noTTYOutput: false, stream: process.stderr });
  if (process.stderr.isTTY) bar.start(1, 0, { table: '' });
  try {
    const services = await moveDatabase({
      source,
      target,
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
