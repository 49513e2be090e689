import { userInfo } from 'node:os';
import { packetServiceLacks } from '../packet-service/app.ts';
import { type AuditedCommand, insertCommand, listCommands } from '../packet-service/core/audit/store.ts';
import { SCHEMA as PACKET_SCHEMA } from '../packet-service/core/pools.ts';
import { type Connection, withPool } from '../platform/database/database.ts';
import { SCHEMA as TRACE_SCHEMA, traceBackendLacks } from '../trace-backend/app.ts';
import type { AuditEntity } from '../trace-backend/base/audit/actions.ts';
import { insertAudit, listActions } from '../trace-backend/base/audit/store.ts';

/** The action of the trace backend's audit. */
const COMMAND = 'COMMAND';
/** The values that the audit keeps of a command line: no secrets, addresses of people or paths. */
const KEPT = ['ID', 'id', 'service', 'now', 'force'] as const;

export type CommandOptions = Record<string, string | boolean | undefined>;

/**
 * Records a command in the audit of each service that the database has.
 *
 * @param outcome `failed`, for a second entry about a command that failed
 */
export async function recordCommand(
  connection: Connection,
  command: string,
  options: CommandOptions,
  outcome?: 'failed',
): Promise<void> {
  const at = new Date();
  const details = { by: operator(), ...keptOf(options), ...(outcome && { outcome }) };
  if (await isCurrent(packetServiceLacks(connection))) {
    await withPool(connection, PACKET_SCHEMA, pool => insertCommand(pool, { at, command, details }));
  }
  if (await isCurrent(traceBackendLacks(connection))) {
    const entry = {
      at,
      userId: null,
      action: COMMAND,
      entity: 'command' satisfies AuditEntity,
      entityId: command,
      address: '',
      details,
    };
    await withPool(connection, TRACE_SCHEMA, pool => insertAudit(pool, entry));
  }
}

/** The newest commands in the audits of both services, newest first; one that is in both is listed once. */
export async function recordedCommands(connection: Connection, limit: number): Promise<AuditedCommand[]> {
  const recorded: AuditedCommand[] = [];
  if (await isCurrent(packetServiceLacks(connection)))
    recorded.push(...(await withPool(connection, PACKET_SCHEMA, pool => listCommands(pool, limit))));
  if (await isCurrent(traceBackendLacks(connection)))
    recorded.push(...(await withPool(connection, TRACE_SCHEMA, pool => listActions(pool, COMMAND, limit))));
  const once = new Map(recorded.map(entry => [`${entry.at.toISOString()} ${entry.command}`, entry]));
  return [...once.values()].sort((a, b) => b.at.getTime() - a.at.getTime()).slice(0, limit);
}

async function isCurrent(lacking: Promise<string[] | undefined>): Promise<boolean> {
  return (await lacking)?.length === 0;
}

function keptOf(options: CommandOptions): CommandOptions {
  return Object.fromEntries(
    KEPT.filter(name => options[name] !== undefined).map(name => [name, options[name]]),
  );
}

/** The account of the operating system that runs the command. */
function operator(): string {
  try {
    return process.env.SUDO_USER ?? userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
