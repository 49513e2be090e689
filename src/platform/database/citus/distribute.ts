import type pg from 'pg';
import type { Connection } from '../database.ts';
import { ADVISORY_LOCKS } from '../locks/advisory-locks.ts';
import { errorCode } from '../troubles.ts';
import { clusterProblems } from './checks.ts';
import {
  coordinatorAddress,
  countServiceSessions,
  distributeTable,
  dropLocalRows,
  hasCitus,
  knownWorkers,
  lackingServerSettings,
  lackingSettings,
  tableStates,
} from './cluster.ts';
import {
  addressOf,
  connectionTo,
  type Node,
  type NodeSession,
  nodeName,
  openNode,
  readNodeFacts,
} from './nodes.ts';
import { type Placements, tablesWithShards } from './placements.ts';
import { commitInTwoPhases, commitsInTwoPhases } from './two-phase.ts';

/** Keeps Citus from repeating the statement sent with it on the other servers; those that follow are repeated. */
const HERE_ALONE = 'SET LOCAL citus.enable_ddl_propagation = off';

/** Why a database cannot be distributed; the message says what to do. */
export class DistributeError extends Error {}

export interface Distribution {
  /** of the role that owns the tables, on the coordinator */
  owner: Connection;
  schema: string;
  placements: Placements;
  /** without any, the coordinator holds the shards */
  workers: readonly Node[];
  /** by which the workers reach the coordinator; that of `owner` where it is not given */
  coordinator?: Node | undefined;
  /** of each group of co-located tables */
  shards: number;
  /** only says what it would do */
  dryRun: boolean;
  /** called with each step, when it begins */
  onStep: (step: string) => void;
}

/**
 * Distributes the tables of a schema over the servers of a Citus cluster, with their rows. What is done already is left
 * alone, so that it can be repeated after a kill at any moment, and with further workers.
 *
 * @returns how many steps it took, or would take
 * @throws DistributeError before anything is changed if a check fails
 */
export async function distribute(distribution: Distribution): Promise<number> {
  const { owner, workers } = distribution;
  const sessions: NodeSession[] = [];
  try {
    const here = distribution.coordinator ?? addressOf(owner);
    const coordinator = await open(sessions, owner, here ? nodeName(here) : 'the coordinator');
    for (const worker of workers) await open(sessions, connectionTo(owner, worker), nodeName(worker));
    const { client } = coordinator;
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      ADVISORY_LOCKS.distribute,
    ]);
    if (!rows[0]?.taken)
      throw new DistributeError('another fieldtrace distribute is running in this database');
    await check(distribution, sessions);
    return await takeSteps(distribution, sessions);
  } finally {
    await Promise.all(sessions.map(({ client }) => client.end()));
  }
}

async function open(sessions: NodeSession[], connection: Connection, name: string): Promise<NodeSession> {
  try {
    const session = await openNode(connection, name);
    sessions.push(session);
    return session;
  } catch (error) {
    throw new DistributeError(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws DistributeError with everything that is wrong */
async function check(
  { owner, schema, placements, workers, coordinator, dryRun }: Distribution,
  sessions: readonly NodeSession[],
): Promise<void> {
  const [here, ...others] = await Promise.all(sessions.map(readNodeFacts));
  const client = (sessions[0] as NodeSession).client;
  const states = await tableStates(client, schema, placements);
  const bytes = states.reduce((sum, table) => sum + (table.isDistributed ? 0 : table.bytes), 0);
  const problems = clusterProblems(here as NonNullable<typeof here>, others, bytes);
  const address = coordinator ?? addressOf(owner);
  if (workers.length > 0 && !address) {
    problems.push(
      "DATABASE_URL points to a socket; set the coordinator's address with --coordinator host:port",
    );
  }
  if (address && isLoopback(address) && workers.some(worker => !isLoopback(worker))) {
    problems.push(
      `${nodeName(address)} means each server itself; set the coordinator's address with --coordinator host:port`,
    );
  }
  const running = dryRun ? 0 : await countServiceSessions(client);
  if (running > 0 && states.some(table => !table.isDistributed)) {
    problems.push(`stop the services first: ${running} of their connections are open`);
  }
  if (problems.length > 0) throw new DistributeError(problems.join('\n'));
}

function isLoopback({ host }: Node): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

async function takeSteps(distribution: Distribution, sessions: readonly NodeSession[]): Promise<number> {
  const { dryRun, onStep } = distribution;
  const { client } = sessions[0] as NodeSession;
  let steps = 0;
  const step = async (text: string, work: () => Promise<unknown>) => {
    onStep(text);
    steps += 1;
    if (!dryRun) await work();
  };
  // The coordinator comes last: Citus compares the versions when a worker is added.
  for (const { name, client: node } of sessions.toReversed()) {
    if (!(await hasCitus(node)))
      await step(`${name}: create the extension citus`, () => node.query('CREATE EXTENSION citus'));
  }
  for (const session of sessions) {
    for (const statement of await lackingServerSettings(session.client)) {
      await step(`${session.name}: ${statement}`, () => set(session, `${HERE_ALONE}; ${statement}`));
    }
  }
  if (await hasCitus(client)) await setUp(distribution, sessions[0] as NodeSession, step);
  else onStep('name the coordinator, add the workers and set the coordinator up');
  // Before there are shards, so that no kill leaves tables with shards and commits that can be torn apart.
  for (const table of tablesWithShards(distribution.placements)) {
    if (!(await commitsInTwoPhases(client, distribution.schema, table))) {
      await step(`commit what is written to ${table} and to shards in two phases`, () =>
        commitInTwoPhases(client, distribution.schema, table),
      );
    }
  }
  for (const table of await tableStates(client, distribution.schema, distribution.placements)) {
    const size = `${Math.ceil(table.bytes / 1024).toLocaleString('en')} kB`;
    if (!table.isDistributed) {
      await step(`distribute ${table.name} by ${table.by} (${size})`, () =>
        distributeTable(client, distribution.schema, table, distribution.shards),
      );
    }
    // Its own step: a kill between the two leaves rows that only take space.
    if (!table.isDistributed || (await hasLocalRows(client, distribution.schema, table.name))) {
      await step(`remove the rows of ${table.name} from the coordinator`, () =>
        dropLocalRows(client, distribution.schema, table.name),
      );
    }
  }
  return steps;
}

/** Settings and servers. */
async function setUp(
  { owner, workers, coordinator }: Distribution,
  session: NodeSession,
  step: (text: string, work: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const { client } = session;
  for (const statement of await lackingSettings(client)) await step(statement, () => set(session, statement));
  const address = coordinator ?? addressOf(owner);
  const isKnown = (await coordinatorAddress(client)) !== undefined;
  if (address && (!isKnown || coordinator)) {
    if ((await coordinatorAddress(client)) !== nodeName(address)) {
      await step(`name the coordinator ${nodeName(address)}`, () =>
        client.query('SELECT citus_set_coordinator_host($1, $2)', [address.host, address.port]),
      );
    }
  }
  const known = await knownWorkers(client);
  for (const worker of workers) {
    if (known.includes(nodeName(worker))) continue;
    await step(`add the worker ${nodeName(worker)}`, () =>
      client.query('SELECT citus_add_node($1, $2)', [worker.host, worker.port]),
    );
  }
}

/** @throws DistributeError with what a superuser has to run */
async function set({ name, client }: NodeSession, statement: string): Promise<void> {
  const reload = statement.startsWith('ALTER SYSTEM') ? 'SELECT pg_reload_conf()' : undefined;
  try {
    await client.query(statement);
    if (reload) await client.query(reload);
  } catch (error) {
    if (errorCode(error) !== '42501') throw error;
    const statements = [statement, reload].filter(text => text !== undefined).join('; ');
    throw new DistributeError(`a superuser must run on ${name}: ${statements};`, { cause: error });
  }
}

/** Whether the coordinator still has rows of a distributed table, which it does not use. */
async function hasLocalRows(client: pg.Client, schema: string, table: string): Promise<boolean> {
  const { rows } = await client.query<{ bytes: string }>(
    'SELECT pg_relation_size(to_regclass($1)) AS bytes',
    [`${client.escapeIdentifier(schema)}.${client.escapeIdentifier(table)}`],
  );
  return Number(rows[0]?.bytes) > 0;
}
