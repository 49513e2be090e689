import type pg from 'pg';
import sql, { raw } from 'sql-template-tag';
import { VALUE_CHAIN_IDS } from '../../value-chains/companies-store.ts';
import { COLUMNS } from './fields.ts';

/** The companies that a user created and is still a member of, with all fields. */
export function companiesBy(userId: number): pg.QueryConfig {
  return sql`
    SELECT id, status, ${raw(Object.values(COLUMNS).join(', '))}, ${VALUE_CHAIN_IDS} AS value_chain_ids, created_at
    FROM companies
    WHERE created_by = ${userId} AND id IN (SELECT company_id FROM company_users WHERE user_id = ${userId})
    ORDER BY id`;
}
