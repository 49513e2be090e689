import type pg from 'pg';
import sql from 'sql-template-tag';

/** A packet as it is stored. */
export interface StoredPacket {
  header: string;
  body: string;
  footer: string;
}

/**
 * The packets of a user: sent with their token, or messages of theirs in these threads (uuid form). There is no index
 * for this, because only exports need it: scans all packets once.
 */
export function packetsBy(userId: string, threadIds: readonly string[]): pg.QueryConfig {
  return sql`
    SELECT header, body, footer FROM packets
    WHERE author = ${userId} OR (author IS NULL AND CASE WHEN thread_id = ANY (${threadIds}::uuid[])
      THEN body::json ->> 'from_user' = ${userId} ELSE false END)`;
}
