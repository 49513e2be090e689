import sql, { empty } from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';
import { groupedByKey, sharedRead } from '../../../../platform/database/shared-read.ts';
import { COMPANY_TYPES, type CompanyType } from '../record/company-types.ts';

/*
 * The statements of companies about products that they own or are associated with. They are here because products depend
 * on companies, not the other way round.
 */

const roles = sharedRead(async (database, companyIds: readonly number[]) => {
  const { rows } = await database.query<{ companyId: number; type: CompanyType }>({
    name: 'find-company-roles',
    // With EXISTS, PostgreSQL reads all of product_companies: it takes the arrays to be long.
    text: `SELECT id AS "companyId", type FROM unnest($1::integer[]) AS id, unnest($2::text[]) AS type,
        LATERAL (SELECT FROM product_companies WHERE company_id = id AND product_companies.type = type.type LIMIT 1) AS found
      ORDER BY type`,
    values: [companyIds, COMPANY_TYPES],
  });
  return groupedByKey(companyIds, rows, ({ companyId }) => companyId);
});

/** The roles of a company in products, each once. */
export async function findRoles(database: Database, companyId: number): Promise<CompanyType[]> {
  return (await roles.one(database, companyId)).map(({ type }) => type);
}

/** The other companies of the products that a company is associated with; only those with the role, if one is given. */
export async function findPartners(
  database: Database,
  companyId: number,
  role?: CompanyType,
): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT partners.company_id AS id FROM product_companies
    JOIN product_companies AS partners USING (product_id)
    WHERE product_companies.company_id = ${companyId} AND partners.company_id <> ${companyId}
      ${role === undefined ? empty : sql`AND partners.type = ${role}`}`);
  return rows.map(({ id }) => id);
}

/** Whether a company owns a product. */
export async function ownsProducts(database: Database, companyId: number): Promise<boolean> {
  const { rows } = await database.query<{ owns: boolean }>(sql`
    SELECT EXISTS (SELECT FROM products WHERE company_id = ${companyId}) AS owns`);
  return rows[0]?.owns ?? false;
}

/** A merge of a company into another, with the user who merges them. */
interface Merge {
  from: number;
  into: number;
  userId: number;
}

/**
 * Moves the products, associations and departures of a company to another one, with an entry in the history of each
 * product.
 *
 * @returns the number of products changed
 */
export async function mergeProducts(database: Database, { from, into, userId }: Merge): Promise<number> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT id FROM products WHERE id IN (SELECT product_id FROM product_companies WHERE company_id = ${from})
    ORDER BY id FOR UPDATE`);
  await mergeDepartures(database, { from, into });
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  const at = new Date();
  // Both statements of the history see the state before the change.
  await execute(
    database,
    sql`
    INSERT INTO product_changes (product_id, version, at, user_id, path, before, after)
    SELECT id, version + 1, ${at}::timestamptz, ${userId}::integer, 'company.id', to_json(${from}::integer),
      to_json(${into}::integer)
    FROM products WHERE id = ANY (${ids}::integer[]) AND company_id = ${from} ORDER BY id`,
  );
  await database.query(sql`
    WITH after AS (
      SELECT DISTINCT ON (product_id, company_id, type) product_id, company_id, type, position
      FROM (SELECT product_id, CASE company_id WHEN ${from} THEN ${into} ELSE company_id END AS company_id, type, position
        FROM product_companies WHERE product_id = ANY (${ids}::integer[])) AS moved
      ORDER BY product_id, company_id, type, position)
    INSERT INTO product_changes (product_id, version, at, user_id, path, before, after)
    SELECT id, version + 1, ${at}::timestamptz, ${userId}::integer, 'associatedCompanies',
      (SELECT json_agg(json_build_object('company', json_build_object('id', company_id), 'type', type)
        ORDER BY position) FROM product_companies WHERE product_id = products.id),
      (SELECT json_agg(json_build_object('company', json_build_object('id', company_id), 'type', type)
        ORDER BY position) FROM after WHERE product_id = products.id)
    FROM products WHERE id = ANY (${ids}::integer[]) ORDER BY id`);
  await execute(
    database,
    sql`
    DELETE FROM product_companies AS old WHERE company_id = ${from} AND EXISTS (
      SELECT FROM product_companies WHERE product_id = old.product_id AND company_id = ${into} AND type = old.type)`,
  );
  await execute(database, sql`UPDATE product_companies SET company_id = ${into} WHERE company_id = ${from}`);
  await execute(
    database,
    sql`
    UPDATE products SET company_id = CASE company_id WHEN ${from} THEN ${into}::integer ELSE company_id END,
      version = version + 1, updated_at = ${at} WHERE id = ANY (${ids}::integer[])`,
  );
  return ids.length;
}

/** Moves the departures of a company to another one, except from products that the other is associated with. */
async function mergeDepartures(database: Database, { from, into }: Omit<Merge, 'userId'>): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO product_departures (product_id, company_id, at)
    SELECT product_id, ${into}::integer, at FROM product_departures AS old WHERE company_id = ${from} AND NOT EXISTS (
      SELECT FROM product_companies WHERE product_id = old.product_id AND company_id = ${into})
    ON CONFLICT DO NOTHING`,
  );
  await execute(database, sql`DELETE FROM product_departures WHERE company_id = ${from}`);
}
