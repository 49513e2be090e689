import type { NodeFacts } from './nodes.ts';

/** The oldest Citus whose behaviour is known to suffice; 13.2 is tested. */
const OLDEST_CITUS = 13;
/** How much more than its share of the data a server needs while it receives it: the WAL of the copy is as large. */
const ROOM = 2;

/**
 * Reasons why a cluster cannot be distributed, or would not work well afterwards, each with a remedy.
 *
 * @param coordinator facts of the server of DATABASE_URL
 * @param workers those of the others; none if the coordinator holds the shards itself
 * @param bytes on the disk of the tables that are still to be distributed
 */
export function clusterProblems(
  coordinator: NodeFacts,
  workers: readonly NodeFacts[],
  bytes: number,
): string[] {
  const nodes = [coordinator, ...workers];
  return [
    ...nodes.flatMap(ownProblems),
    ...workers.flatMap(worker => differences(coordinator, worker)),
    ...diskProblems(workers.length > 0 ? workers : [coordinator], bytes),
  ];
}

function ownProblems(node: NodeFacts): string[] {
  const { name, citus, available, preloads, walLevel, maxConnections, maxPreparedTransactions } = node;
  const version = citus ?? available;
  if (version === null) return [`${name}: Citus is not installed on the server`];
  const problems: string[] = [];
  const add = (isProblem: boolean, text: string) => {
    if (isProblem) problems.push(`${name}: ${text}`);
  };
  add(
    Number.parseInt(version, 10) < OLDEST_CITUS,
    `Citus ${version} is too old; ${OLDEST_CITUS} or newer is required`,
  );
  add(!preloads, "shared_preload_libraries must begin with 'citus'; set it and restart the server");
  add(
    citus === null && !node.isSuperuser,
    'the database lacks the extension; a superuser must run CREATE EXTENSION citus',
  );
  add(walLevel !== 'logical', `wal_level is ${walLevel}; set it to logical and restart the server`);
  add(
    maxPreparedTransactions < maxConnections,
    `max_prepared_transactions is ${maxPreparedTransactions}; set it to max_connections (${maxConnections}) or more ` +
      'and restart the server',
  );
  return problems;
}

function differences(coordinator: NodeFacts, worker: NodeFacts): string[] {
  const major = ({ versionNumber }: NodeFacts) => Math.floor(versionNumber / 10_000);
  const problems: string[] = [];
  if (major(worker) !== major(coordinator)) {
    problems.push(
      `${worker.name}: PostgreSQL ${worker.version} differs from the coordinator's ${coordinator.version}`,
    );
  }
  const [here, there] = [coordinator, worker].map(({ citus, available }) => citus ?? available);
  if (here !== null && there !== null && here !== there) {
    problems.push(`${worker.name}: Citus ${there} differs from the coordinator's ${here}`);
  }
  if (worker.encoding !== coordinator.encoding) {
    problems.push(
      `${worker.name}: the database is ${worker.encoding} and the coordinator's is ${coordinator.encoding}; create ` +
        'it again with the same encoding and collation',
    );
  }
  return problems;
}

function diskProblems(holders: readonly NodeFacts[], bytes: number): string[] {
  const needed = (bytes / holders.length) * ROOM;
  return holders.flatMap(({ name, freeBytes }) =>
    freeBytes === null || freeBytes >= needed
      ? []
      : [`${name}: ${megabytes(freeBytes)} MB of disk are free and ${megabytes(needed)} MB are needed`],
  );
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 1024 / 1024).toLocaleString('en');
}
