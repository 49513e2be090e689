import type { Database } from '../database.ts';
import { parseWalPosition } from './wal-position.ts';

/** The same for a server and its standbys, and for no other database. */
const IDENTITY = `(SELECT system_identifier FROM pg_control_system()) || '/' ||
  (SELECT oid FROM pg_database WHERE datname = current_database()) AS identity`;

/** Facts that the primary reports about itself. */
export interface PrimaryFacts {
  identity: string;
  /** up to where its write-ahead log is flushed: no standby has more */
  flushed: bigint;
}

/** Facts that a replica reports about itself. */
export interface ReplicaFacts {
  identity: string;
  /** false for a server that was promoted, or never was a standby */
  isStandby: boolean;
  /** up to where it has replayed the write-ahead log: everything committed before is visible */
  replayed: bigint;
  /** whether its primary keeps row versions that statements on it still read */
  feedback: boolean;
}

/** @throws Error on a standby */
export async function readPrimaryFacts(database: Database): Promise<PrimaryFacts> {
  const { rows } = await database.query<{ identity: string; flushed: string }>({
    name: 'primary_facts',
    text: `SELECT pg_current_wal_flush_lsn()::text AS flushed, ${IDENTITY}`,
  });
  const { identity, flushed } = rows[0] as (typeof rows)[number];
  return { identity, flushed: parseWalPosition(flushed) };
}

export async function readReplicaFacts(database: Database): Promise<ReplicaFacts> {
  const { rows } = await database.query<Omit<ReplicaFacts, 'replayed'> & { replayed: string }>({
    name: 'replica_facts',
    text: `SELECT pg_is_in_recovery() AS "isStandby", coalesce(pg_last_wal_replay_lsn(), '0/0')::text AS replayed,
      current_setting('hot_standby_feedback')::bool AS feedback, ${IDENTITY}`,
  });
  const facts = rows[0] as (typeof rows)[number];
  return { ...facts, replayed: parseWalPosition(facts.replayed) };
}
