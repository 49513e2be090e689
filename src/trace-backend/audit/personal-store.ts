import type pg from 'pg';
import sql from 'sql-template-tag';

/** What a user did, from where, and what others did to the account; who and where those are is left out. */
export function auditOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT at, user_id IS NOT DISTINCT FROM ${userId} AS own, action, entity, entity_id,
      CASE WHEN user_id = ${userId} THEN address END AS address, details FROM audit
    WHERE user_id = ${userId} OR (entity = 'user' AND entity_id = ${String(userId)}) ORDER BY id`;
}
