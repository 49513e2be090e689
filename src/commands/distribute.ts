import { PLACEMENTS } from '../packet-service/core/contract/placements.ts';
import { SCHEMA } from '../packet-service/core/pools.ts';
import { distribute } from '../platform/database/citus/distribute.ts';
import { type Node, openNode, readNodes } from '../platform/database/citus/nodes.ts';
import { distributionStatus } from '../platform/database/citus/status.ts';
import type { Connection } from '../platform/database/database.ts';
import { type Settings, SettingsError } from '../platform/settings/settings.ts';
import type { CommandOptions } from './command-audit.ts';

/** Shards of packets, and as many of messages; each worker should get at least one. */
const SHARDS = 8;

/**
 * Distributes packets and messages over the servers of a Citus cluster, or says how they are distributed.
 *
 * @param owner of the role that owns the tables, on the coordinator
 * @param readCount reads an option that is a number
 * @returns what was done, in words
 * @throws DistributeError, SettingsError
 */
export async function runDistribute(
  owner: Connection,
  settings: Settings,
  options: CommandOptions,
  readCount: (name: string, range: { from: number; to: number }) => number | undefined,
): Promise<string> {
  if (!settings.DATABASE_URL) {
    throw new SettingsError(
      'the embedded PostgreSQL has no Citus: set DATABASE_URL to the coordinator of a cluster',
    );
  }
  if (options.status) return status(owner);
  const dryRun = options['dry-run'] === true;
  const steps = await distribute({
    owner,
    schema: SCHEMA,
    placements: PLACEMENTS,
    workers: options.workers === undefined ? [] : addresses('workers', options.workers),
    coordinator:
      options.coordinator === undefined ? undefined : addresses('coordinator', options.coordinator)[0],
    shards: readCount('shards', { from: 1, to: 1024 }) ?? SHARDS,
    dryRun,
    onStep: step => console.error(dryRun ? `would ${step}` : step),
  });
  if (dryRun) return `would take ${steps} steps`;
  return steps === 0
    ? 'everything is already distributed'
    : `took ${steps} steps; fieldtrace distribute --status shows the result`;
}

function addresses(name: string, text: string | boolean): Node[] {
  const nodes = readNodes(String(text));
  if (nodes) return nodes;
  throw new SettingsError(
    `--${name} must be host:port${name === 'workers' ? ',host:port,…, each once' : ''}`,
  );
}

async function status(owner: Connection): Promise<string> {
  const { client } = await openNode(owner, 'the coordinator');
  try {
    const lines = await distributionStatus(client);
    return lines ? lines.join('\n') : 'the database lacks the extension citus, so nothing is distributed';
  } finally {
    await client.end();
  }
}
