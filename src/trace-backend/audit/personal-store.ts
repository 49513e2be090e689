import type pg from 'pg';
import sql from 'sql-template-tag';

/** What a user did, and what was done to the user. */
export function auditOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT at, user_id, action, entity, entity_id, address, details FROM audit
    WHERE user_id = ${userId} OR (entity = 'user' AND entity_id = ${String(userId)}) ORDER BY id`;
}
