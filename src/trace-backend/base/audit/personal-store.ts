import type pg from 'pg';
import sql from 'sql-template-tag';

/** A user's actions with client addresses, and other users' actions on the account without their names and addresses. */
export function auditOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT at, user_id IS NOT DISTINCT FROM ${userId} AS own, action, entity, entity_id,
      CASE WHEN user_id = ${userId} THEN address END AS address, details FROM audit
    WHERE user_id = ${userId} OR (entity = 'user' AND entity_id = ${String(userId)}) ORDER BY id`;
}
