import type pg from 'pg';
import sql from 'sql-template-tag';
import { personalRows } from '../../../base/records/store.ts';
import { VALUE_CHAIN_IDS } from '../../value-chains/companies-store.ts';
import { COLUMNS } from './fields.ts';

/** The companies that a user created and is still a member of, with all fields. */
export function companiesBy(userId: number): pg.QueryConfig {
  return personalRows(
    { name: 'companies', columns: { status: 'status', ...COLUMNS } },
    sql`${VALUE_CHAIN_IDS} AS value_chain_ids`,
    sql`created_by = ${userId} AND id IN (SELECT company_id FROM company_users WHERE user_id = ${userId})`,
  );
}
