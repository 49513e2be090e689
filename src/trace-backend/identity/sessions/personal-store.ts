import type pg from 'pg';
import sql from 'sql-template-tag';

export function sessionsOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT started_at, last_used_at, expires_at, address, user_agent, second_factor FROM sessions
    WHERE user_id = ${userId} ORDER BY started_at`;
}
