import type pg from 'pg';
import sql from 'sql-template-tag';

/** A user's products: those without a company, and those of companies that the user is a member of. */
function ownProducts(userId: number, companyIds: readonly number[]) {
  return sql`created_by = ${userId} AND (company_id IS NULL OR company_id = ANY (${companyIds}::int[]))`;
}

/**
 * The products that a user created, without those of companies that the user has left.
 *
 * @param companyIds that the user is a member of
 */
export function productsBy(userId: number, companyIds: readonly number[]): pg.QueryConfig {
  return sql`
    SELECT id, name, company_id, content, created_at, updated_at FROM products
    WHERE ${ownProducts(userId, companyIds)} ORDER BY id`;
}

/**
 * A user's changes of products, field by field; with values if the product is one of `productsBy`.
 *
 * @param companyIds that the user is a member of
 */
export function changesBy(userId: number, companyIds: readonly number[]): pg.QueryConfig {
  return sql`
    SELECT product_id, version, at, path, CASE WHEN own.id IS NOT NULL THEN before END AS before,
      CASE WHEN own.id IS NOT NULL THEN after END AS after
    FROM product_changes
    LEFT JOIN (SELECT id FROM products WHERE ${ownProducts(userId, companyIds)}) AS own ON own.id = product_id
    WHERE user_id = ${userId} ORDER BY product_changes.id`;
}
