import type pg from 'pg';
import sql from 'sql-template-tag';

/** A packet as it is stored. */
export interface StoredPacket {
  header: string;
  body: string;
  footer: string;
}

/**
 * The packets that a user made: with a token, or as the sender of messages in these threads (uuid form). No index leads
 * to them, because only exports ask: it passes over all packets once.
 */
export function packetsBy(userId: string, threadIds: readonly string[]): pg.QueryConfig {
  return sql`
    SELECT header, body, footer FROM packets
    WHERE author = ${userId} OR (author IS NULL AND CASE WHEN thread_id = ANY (${threadIds}::uuid[])
      THEN body::json ->> 'from_user' = ${userId} ELSE false END)`;
}
