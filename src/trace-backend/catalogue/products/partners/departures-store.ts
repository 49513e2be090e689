import sql from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';

/** Records that a company has removed itself from a product. */
export async function insertDeparture(
  database: Database,
  productId: number,
  companyId: number,
  at: Date,
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO product_departures (product_id, company_id, at) VALUES (${productId}, ${companyId}, ${at})
    ON CONFLICT DO NOTHING`,
  );
}

/** Which of these companies have removed themselves from a product. */
export async function findDeparted(
  database: Database,
  productId: number,
  companyIds: readonly number[],
): Promise<number[]> {
  if (companyIds.length === 0) return [];
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT company_id AS id FROM product_departures
    WHERE product_id = ${productId} AND company_id = ANY (${companyIds}::integer[]) ORDER BY company_id`);
  return rows.map(({ id }) => id);
}

/**
 * Forgets that these companies have removed themselves from a product.
 *
 * @returns the number of departures
 */
export async function deleteDepartures(
  database: Database,
  productId: number,
  companyIds: readonly number[],
): Promise<number> {
  if (companyIds.length === 0) return 0;
  const { rowCount } = await database.query(sql`
    DELETE FROM product_departures WHERE product_id = ${productId} AND company_id = ANY (${companyIds}::integer[])`);
  return rowCount ?? 0;
}
