import pg from 'pg';
import { connectionFromUrl, withSession } from '../platform/database/database.ts';
import {
  type PrimaryFacts,
  type ReplicaFacts,
  readPrimaryFacts,
  readReplicaFacts,
} from '../platform/database/replicas/facts.ts';
import type { Settings } from '../platform/settings/settings.ts';
import type { DatabaseLook } from './database.ts';
import { error, type Finding, inBytes, ok, warning } from './finding.ts';

/** Whether the standbys of READ_DATABASE_URL can be read, and how far they are behind. */
export async function checkReplicas(
  { READ_DATABASE_URL }: Pick<Settings, 'READ_DATABASE_URL'>,
  { connection }: Pick<DatabaseLook, 'connection'>,
): Promise<Finding[]> {
  if (READ_DATABASE_URL === undefined || connection === undefined) return [];
  // The primary first: a standby that has replayed this lacks nothing.
  const primary = await withSession(connection, readPrimaryFacts);
  return Promise.all(READ_DATABASE_URL.split(',').map(url => checkReplica(url, primary)));
}

async function checkReplica(url: string, primary: PrimaryFacts): Promise<Finding> {
  const connection = connectionFromUrl(url);
  const { host, port } = new pg.Client(connection);
  try {
    return judge(`${host}:${port}`, await withSession(connection, readReplicaFacts), primary);
  } catch (cause) {
    const { message, code } = cause as NodeJS.ErrnoException;
    const remedy =
      'start it, or correct READ_DATABASE_URL; until then, reads go to the others and the primary';
    return error('replicas', `${host}:${port} is not responding: ${message || code}`, remedy);
  }
}

function judge(name: string, replica: ReplicaFacts, primary: PrimaryFacts): Finding {
  const { identity, isStandby, replayed, feedback } = replica;
  if (identity !== primary.identity) {
    const message = `${name} belongs to another database than DATABASE_URL`;
    return error('replicas', message, 'correct READ_DATABASE_URL');
  }
  if (!isStandby) {
    const message = `${name} is not a standby, so it gets no reads`;
    return error('replicas', message, 'make it a standby of the server of DATABASE_URL, or remove it');
  }
  const missing = replayed < primary.flushed ? primary.flushed - replayed : 0n;
  const lag = missing === 0n ? 'not behind' : `${inBytes(Number(missing))} behind`;
  if (feedback) return ok('replicas', `${name} is a standby, ${lag}`);
  const message = `${name} is a standby, ${lag}, and hot_standby_feedback is off: long exports may be cancelled there`;
  return warning('replicas', message, 'set hot_standby_feedback = on there');
}
