import type pg from 'pg';
import sql from 'sql-template-tag';

/** A user's keys for programs, without their hashes. */
export function apiKeysOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT name, scopes, second_factor, created_at, expires_at, last_used_at FROM api_keys
    WHERE user_id = ${userId} ORDER BY created_at`;
}
