import sql, { raw } from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** SQL expression for the ids of a company's value chains, for the columns of companies. */
export const VALUE_CHAIN_IDS = raw(
  'ARRAY(SELECT value_chain_id FROM company_value_chains WHERE company_id = companies.id ORDER BY position)',
);

/** The ids of a company's value chains, in the order sent. */
export async function findCompanyValueChains(database: Database, companyId: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT value_chain_id AS id FROM company_value_chains WHERE company_id = ${companyId} ORDER BY position`);
  return rows.map(({ id }) => id);
}

/** Replaces the value chains of a company, whose row lock the transaction holds. `checkedValueChains` checks them. */
export async function setCompanyValueChains(
  database: Database,
  companyId: number,
  valueChainIds: readonly number[],
): Promise<void> {
  await execute(database, sql`DELETE FROM company_value_chains WHERE company_id = ${companyId}`);
  await execute(
    database,
    sql`
    INSERT INTO company_value_chains (company_id, value_chain_id, position)
    SELECT ${companyId}::integer, value_chain_id, position
    FROM unnest(${valueChainIds}::integer[]) WITH ORDINALITY AS sent (value_chain_id, position)`,
  );
}

/** The companies of a value chain: the id of an example, and their number. */
export async function findCompanies(
  database: Database,
  valueChainId: number,
): Promise<{ companyId: number; count: number } | undefined> {
  const { rows } = await database.query<{ companyId: number; count: number }>(sql`
    SELECT min(company_id) AS "companyId", count(*)::int AS count FROM company_value_chains
    WHERE value_chain_id = ${valueChainId} HAVING count(*) > 0`);
  return rows[0];
}

/** The ids of the product types of a company's value chains. */
export async function findCompanyProductTypes(database: Database, companyId: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT product_type_id AS id FROM company_value_chains
    JOIN value_chains ON value_chains.id = value_chain_id
    WHERE company_id = ${companyId} AND product_type_id IS NOT NULL`);
  return rows.map(({ id }) => id);
}
