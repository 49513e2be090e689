import type { Database } from '../../src/platform/database/database.ts';

export { FILLING } from './many-companies.ts';

import { foldName, ngramsOf } from '../../src/trace-backend/base/lists/search.ts';
import { fillImages, fillValueChains } from './many-references.ts';
import { productForm } from './product-forms.ts';

export const KINDS = [
  'Arabica',
  'Bourbon',
  'Café',
  'Darjeeling',
  'Geisha',
  'Kakao',
  'Maragogype',
  '咖啡',
  'Oolong',
  'चाय',
];
export const LOCATIONS = [
  'Huye',
  'Jimma',
  'Kivu',
  'Lintong',
  'Nyamasheke',
  'Sidamo',
  'Tarrazú',
  'Yirgacheffe',
];

/** Typical names of products; every fiftieth is unique. */
function names(): string[] {
  return Array.from({ length: 2000 }, (_, n) => {
    const kind = KINDS[n % KINDS.length];
    const location = LOCATIONS[Math.floor(n / KINDS.length) % LOCATIONS.length];
    return `${kind} ${location} lot ${n}`;
  });
}

/** The path of a photo in the content of a whole product. */
const PHOTO = 'PHOTO';
const BRIEF = { description: 'as every other' };

/** The body that a form of the front end sends for a product, besides its name and references. */
function wholeContent(): object {
  const { photo, description, process, responsibility, settings, businessToCustomerSettings } = productForm(
    {},
    PHOTO,
  );
  const markers = [
    { latitude: -1.95, longitude: 30.06 },
    { latitude: -6.8, longitude: 39.28 },
  ];
  const origin = {
    text: 'Text 1',
    locations: [{ ...markers[0], pinName: 'Station A', numberOfFarmers: 12 }],
  };
  const parts = { photo, description, process, responsibility, origin, journeyMarkers: markers };
  const content = { ...parts, settings, businessToCustomerSettings };
  return JSON.parse(JSON.stringify(content, (_name, value) => value ?? undefined));
}

/**
 * Fills a database whose products table is empty, by SQL alone.
 *
 * @param database one connection, or a pool of one
 * @param isWhole whether they have what front ends fill in: photo, origin, settings, and a value chain
 * @returns a thousand companies, each of which owns as many products as any other; a company that buys every seventh
 *   product; and the user who made everything
 */
export async function fillProducts(
  database: Database,
  count: number,
  { isWhole = false } = {},
): Promise<{ owners: number[]; buyer: number; userId: number }> {
  const run = (text: string, values: unknown[] = []) => database.query({ text, values });
  const user = await run(
    `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
     VALUES ($1, $1, '', 'Ana', 'Uwase', 'EN', 'ACTIVE', 'USER', now()) RETURNING id`,
    ['products@example.org'],
  );
  const userId = user.rows[0]?.id as number;
  const companies = await run(
    `INSERT INTO companies (status, name, folded, tokens, created_by, created_at)
     SELECT 'ACTIVE', 'Company ' || n, 'company ' || n, '{}', $1, now() FROM generate_series(1, 1001) AS n RETURNING id`,
    [userId],
  );
  const [buyer, ...owners] = companies.rows.map(({ id }) => id as number) as [number, ...number[]];
  // What is checked once and built at once is quicker by far; what comes out is the same.
  const { rows: indexes } = await run(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE schemaname = current_schema AND tablename IN ('products', 'product_companies') AND indexname LIKE '%\\_by\\_%'`,
  );
  const { rows: keys } = await run(
    `SELECT conrelid::regclass AS of, conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE contype = 'f' AND conrelid IN ('products'::regclass, 'product_companies'::regclass)`,
  );
  await run("SET maintenance_work_mem = '256MB'");
  for (const { of, name } of keys) await run(`ALTER TABLE ${of} DROP CONSTRAINT ${name}`);
  for (const { name } of indexes) await run(`DROP INDEX ${name}`);
  const kept = names();
  const photos = isWhole ? await fillImages(database, userId, 1000) : [];
  const chains = isWhole ? await fillValueChains(database, userId) : [];
  await run(
    `WITH kept AS MATERIALIZED (
       SELECT n, name, folded, ARRAY(SELECT jsonb_array_elements_text(tokens)) AS tokens
       FROM jsonb_to_recordset($1) AS kept (n int, name text, folded text, tokens jsonb))
     INSERT INTO products (name, folded, tokens, company_id, content, created_by, created_at, updated_at, value_chain_id)
     SELECT name, folded, tokens, ($2::int[])[1 + made % 1000],
       replace($5, $6, coalesce(($7::text[])[1 + made % 1000], ''))::json, $3, now(), now() - made * interval '1 s',
       ($8::int[])[1 + made % 3]
     FROM generate_series(0, $4::int - 1) AS made JOIN kept ON kept.n = made % 2000`,
    [
      JSON.stringify(
        kept.map((name, n) => ({ n, name, folded: foldName(name), tokens: ngramsOf(foldName(name)) })),
      ),
      owners,
      userId,
      count,
      JSON.stringify(isWhole ? wholeContent() : BRIEF),
      PHOTO,
      photos,
      chains,
    ],
  );
  await run(`INSERT INTO product_companies SELECT id, company_id, 'OWNER', 1 FROM products`);
  await run(`INSERT INTO product_companies SELECT id, $1, 'BUYER', 2 FROM products WHERE id % 7 = 0`, [
    buyer,
  ]);
  for (const { definition } of indexes) await run(definition);
  for (const { of, name, definition } of keys) {
    await run(`ALTER TABLE ${of} ADD CONSTRAINT ${name} ${definition}`);
  }
  await run('RESET maintenance_work_mem');
  await run('ANALYZE products, product_companies');
  return { owners, buyer, userId };
}
