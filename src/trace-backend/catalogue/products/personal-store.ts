import type pg from 'pg';
import sql from 'sql-template-tag';

/** The condition for products that a user created, without those of companies that the user has left. */
function ownProducts(userId: number, companyIds: readonly number[]) {
  return sql`created_by = ${userId} AND (company_id IS NULL OR company_id = ANY (${companyIds}::int[]))`;
}

/**
 * The products that a user created, without those of companies that the user has left.
 *
 * @param companyIds the companies of the user
 */
export function productsBy(userId: number, companyIds: readonly number[]): pg.QueryConfig {
  return sql`
    SELECT id, name, company_id, content, created_at, updated_at FROM products
    WHERE ${ownProducts(userId, companyIds)} ORDER BY id`;
}

/**
 * A user's changes of products, field by field; values only for products of `productsBy`.
 *
 * @param companyIds the companies of the user
 */
export function changesBy(userId: number, companyIds: readonly number[]): pg.QueryConfig {
  return sql`
    SELECT product_id, version, at, path, CASE WHEN own.id IS NOT NULL THEN before END AS before,
      CASE WHEN own.id IS NOT NULL THEN after END AS after
    FROM product_changes
    LEFT JOIN (SELECT id FROM products WHERE ${ownProducts(userId, companyIds)}) AS own ON own.id = product_id
    WHERE user_id = ${userId} ORDER BY product_changes.id`;
}
