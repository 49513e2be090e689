import sql, { empty, raw, type Sql } from 'sql-template-tag';
import type { Database } from '../database/database.ts';

/**
 * What has become of a delivery. queued: it waits or is retried; dead: given up; obsolete: there was no reason any more
 * to send it; dismissed: given up, and an administrator decided that it need not arrive.
 */
export const DELIVERY_STATUSES = ['queued', 'delivered', 'dead', 'obsolete', 'dismissed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A delivery as administrators see it. */
export interface DeliveryState {
  status: DeliveryStatus;
  /** attempts in all, also those after it was revived */
  attempts: number;
  /** when it was last revived */
  replayedAt: Date | null;
  /** why the last attempt failed, without addresses */
  lastError: string | null;
  lastAttemptAt: Date | null;
}

/** The columns of a `DeliveryState`. */
export const DELIVERY_STATE = sql`status, attempts, replayed_at AS "replayedAt", last_error AS "lastError",
  last_attempt_at AS "lastAttemptAt"`;

/** Deliveries that can still arrive. */
export const OPEN = sql`status IN ('queued', 'dead')`;

/** The states in which a delivery can end in another. */
const BEFORE = {
  delivered: OPEN,
  obsolete: OPEN,
  dead: sql`status = 'queued'`,
  dismissed: sql`status = 'dead'`,
} as const;

/** How a delivery whose last attempt left no error has failed. */
const NO_ANSWER = 'the attempts ended without an answer';

/**
 * The statements of a table of deliveries: it has the columns of a `DeliveryState`, and delivered_at if it keeps what was
 * delivered.
 *
 * @param name of the table
 * @param key its columns that identify a delivery, older ones first
 */
export function deliveryTable(name: string, key: string) {
  const [table, columns] = [raw(name), raw(key)];
  return {
    /** Records why an attempt failed. The job queue decides whether another follows. */
    async noteFailure(database: Database, which: Sql, error: string, now: Date): Promise<void> {
      await database.query(sql`
        UPDATE ${table} SET attempts = attempts + 1, last_error = ${error}, last_attempt_at = ${now}
        WHERE ${which} AND ${OPEN}`);
    },

    /** Records how deliveries ended; returns how many, without those that had ended differently before. */
    async settle(database: Database, which: Sql, status: keyof typeof BEFORE, now: Date): Promise<number> {
      const also = {
        delivered: sql`, attempts = attempts + 1, last_error = NULL, last_attempt_at = ${now}, delivered_at = ${now}`,
        obsolete: empty,
        dead: sql`, last_error = coalesce(last_error, ${NO_ANSWER})`,
        dismissed: empty,
      }[status];
      const { rowCount } = await database.query(sql`
        UPDATE ${table} SET status = ${status}${also} WHERE ${which} AND ${BEFORE[status]}`);
      return rowCount ?? 0;
    },

    /** How many dead letters there are; counts no further than `limit`. */
    async countDead(database: Database, limit: number, which: Sql = sql`true`): Promise<number> {
      const { rows } = await database.query<{ count: number }>(sql`
        SELECT count(*)::int AS count FROM (
          SELECT FROM ${table} WHERE status = 'dead' AND ${which} LIMIT ${limit}) AS dead`);
      return rows[0]?.count ?? 0;
    },

    /**
     * Revives dead letters, oldest first.
     *
     * @param returned columns that it returns
     * @param changed what else it sets, after a comma
     */
    async revive<Row extends object>(
      database: Database,
      { which, limit, now }: { which: Sql | undefined; limit: number; now: Date },
      returned: Sql,
      changed: Sql = empty,
    ): Promise<Row[]> {
      const { rows } = await database.query<Row>(sql`
        UPDATE ${table} SET status = 'queued', replayed_at = ${now}${changed}
        WHERE status = 'dead' AND (${columns}) IN (
          SELECT ${columns} FROM ${table} WHERE status = 'dead' ${which ? sql`AND ${which}` : empty}
          ORDER BY ${columns} LIMIT ${limit} FOR UPDATE SKIP LOCKED)
        RETURNING ${returned}`);
      return rows;
    },

    /** Removes deliveries that were last tried before a time, at most `limit`. */
    async removeOld(database: Database, before: Date, limit: number): Promise<void> {
      await database.query(sql`
        DELETE FROM ${table} WHERE (${columns}) IN (
          SELECT ${columns} FROM ${table} WHERE last_attempt_at < ${before} ORDER BY last_attempt_at LIMIT ${limit})`);
    },
  };
}

export type DeliveryTable = ReturnType<typeof deliveryTable>;
