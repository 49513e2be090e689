import pg from 'pg';
import { inject } from 'vitest';
import type { Claim } from '../../src/packet-service/core/idempotency/store.ts';
import { makePacket, type Packet } from '../../src/packet-service/core/packet-format/packet.ts';
import { newUlid, ulidToUuid } from '../../src/packet-service/core/packet-format/ulid.ts';
import { parseTimestamp, type Timestamp } from '../../src/platform/time.ts';
import { type TestDatabase, waitingSessions } from './database.ts';
import { eventually } from './eventually.ts';

/** A small packet; `fields` replace its columns. */
export function notePacket(fields: Partial<Packet> = {}, id = newUlid()): Packet {
  const made = makePacket({
    id,
    geoid: 'g',
    additionalGeoids: [],
    timestamp: parseTimestamp('2026-03-01T08:15:00Z') as Timestamp,
    type: 'note',
    body: {},
    lang: 'en',
  });
  return { ...made, ...fields };
}

/** An Idempotency-Key with the answer that its request gets. */
export function claimOf(key: string): Claim {
  return { caller: '', route: 'POST /test', key, fingerprint: Buffer.alloc(32), status: 201, answer: '{}' };
}

/** Another client of the database, whose open transaction makes writes of the same keys wait. */
export interface OtherClient {
  query: pg.Client['query'];
  /** Inserts a packet without committing, in the transaction that it begins if none is open. */
  hold(id: string): Promise<void>;
  /** Resolves when another connection waits for a lock, or so many do. */
  blocks(count?: number): Promise<unknown>;
  /** Runs a statement on one more connection; gives whether it went through or must wait for a lock, and undoes it. */
  canRun(statement: string, values: readonly unknown[]): Promise<boolean>;
  end(): Promise<void>;
}

export async function otherClient({
  connection,
  pool,
}: {
  connection: pg.ClientConfig;
  pool: pg.Pool;
}): Promise<OtherClient> {
  const client = new pg.Client({ ...connection, options: '-c search_path=packet_service' });
  await client.connect();
  const waiting = () => waitingSessions(pool);
  return {
    query: client.query.bind(client) as pg.Client['query'],
    async hold(id) {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO packets (id, geoid, ts, type, header, body, footer)
         VALUES ($1, 'g', now(), 'note', '{}', '{}', '{}')`,
        [id],
      );
    },
    blocks: (count = 1) => eventually(async () => (await waiting()) >= count),
    async canRun(statement, values) {
      const before = await waiting();
      const third = await pool.connect();
      await third.query('BEGIN');
      let went: boolean | undefined;
      const running = third.query(statement, [...values]).then(
        () => {
          went = true;
        },
        // After a wait the key may be there.
        () => {},
      );
      await eventually(async () => went ?? (await waiting()) > before);
      const answer = went ?? false;
      // What it waits for ends with this transaction.
      if (!answer) await client.query('ROLLBACK');
      await running;
      await third.query('ROLLBACK');
      third.release();
      return answer;
    },
    end: () => client.end(),
  };
}

/**
 * The packets of each transaction that stored some of these, transactions in their order; while nothing moves events out
 * of the outbox, whose rows tell the transaction on a cluster too.
 */
export async function storedTogether({ pool }: TestDatabase, ids: readonly string[]): Promise<string[][]> {
  const stored = await pool.query('SELECT id FROM packets WHERE id = ANY ($1::uuid[])', [ids]);
  const { rows } = await pool.query(
    'SELECT xid, unnest(packet_ids) AS id FROM packet_log_queue ORDER BY xid, id',
  );
  const known = new Set(stored.rows.map(({ id }) => id));
  const found = rows.filter(({ id }) => known.has(id));
  return [...Map.groupBy(found, ({ xid }) => xid).values()].map(group => group.map(({ id }) => id));
}

/**
 * A few ids in their order. On a cluster they are of one shard, because a statement takes the keys of each shard by
 * itself.
 */
export async function orderedIds({ pool }: TestDatabase, count: number): Promise<string[]> {
  const ids = Array.from({ length: count * 100 }, () => ulidToUuid(newUlid()));
  if (!inject('databaseServer').cluster) return ids.slice(0, count).toSorted();
  const { rows } = await pool.query(
    `SELECT get_shard_id_for_distribution_column('packets', id) AS shard, id FROM unnest($1::uuid[]) AS id`,
    [ids],
  );
  const [largest = []] = [...Map.groupBy(rows, ({ shard }) => shard).values()].sort(
    (a, b) => b.length - a.length,
  );
  return largest
    .slice(0, count)
    .map(({ id }) => id)
    .toSorted();
}
