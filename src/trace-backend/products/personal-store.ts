import type pg from 'pg';
import sql from 'sql-template-tag';

/** The products that a user made. */
export function productsBy(userId: number): pg.QueryConfig {
  return sql`
    SELECT id, name, company_id, content, created_at, updated_at FROM products WHERE created_by = ${userId}
    ORDER BY id`;
}

/** What a user changed of products, field by field. */
export function changesBy(userId: number): pg.QueryConfig {
  return sql`
    SELECT product_id, version, at, path, before, after FROM product_changes WHERE user_id = ${userId} ORDER BY id`;
}
