import type pg from 'pg';
import sql from 'sql-template-tag';

/** The fields that a user registered. */
export function fieldsBy(userId: string): pg.QueryConfig {
  return sql`
    SELECT geoid, name, boundary::json AS boundary, area_m2, created_at FROM fields WHERE author = ${userId}
    ORDER BY created_at`;
}
