import type { Database } from '../../src/platform/database/database.ts';
import { foldName, ngramsOf } from '../../src/trace-backend/base/lists/search.ts';
import { fillImages, fillValueChains } from './many-references.ts';

const KINDS = [
  'Coopérative',
  'Kopanyi',
  'Genossenschaft',
  'Rösterei',
  '咖啡合作社',
  'सहकारी समिति',
  'Кооператив',
];
const LOCATIONS = ['Huye', 'Jimma', 'Kivu', 'Lintong', 'Nyamasheke', 'Sidamo', 'Tarrazú', '云南', 'कोडगु'];

/** How patient a pool has to be that fills a database. */
export const FILLING = { deadline: { ms: 600_000, of: 'statement' } } as const;

/** Companies of one name. */
export const NAMESAKES = 10;

function nameOf(n: number): string {
  return `${KINDS[n % KINDS.length]} ${LOCATIONS[n % LOCATIONS.length]} ${n}`;
}

/** The fields of a company with a complete profile. */
const PROFILE = {
  phone: '+250700000000',
  email: 'info@kopanyi.example',
  about: 'Washing stations around the lake',
  mediaLinks: { facebook: 'https://facebook.example/kopanyi', youtube: 'https://youtube.example/kopanyi' },
  certifications: [{ id: 1, type: 'ORGANIC', description: 'EU organic', validity: '2027-12-31' }],
};

/**
 * Fills a database with so many companies by SQL alone. Every hundredth is deactivated.
 *
 * @param isWhole whether they have what front ends fill in: logo, links, certifications, and value chains
 * @returns their names, each of which ten companies have; and the user who made them and is the COMPANY_ADMIN of
 *   every thousandth
 */
export async function fillCompanies(
  database: Database,
  count: number,
  { isWhole = false } = {},
): Promise<{ userId: number; names: string[] }> {
  const run = (text: string, values: unknown[] = []) => database.query({ text, values });
  const user = await run(
    `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
     VALUES ($1, $1, '', 'Ana', 'Uwase', 'EN', 'ACTIVE', 'USER', now()) RETURNING id`,
    ['companies@example.org'],
  );
  const userId = user.rows[0]?.id as number;
  // A finished index is built much faster than a growing one.
  await run('DROP INDEX companies_by_token');
  const names = Array.from({ length: count / NAMESAKES }, (_, n) => nameOf(n));
  const folded = names.map(name => `${foldName(name)}\n`);
  const logos = isWhole ? await fillImages(database, userId, 1000) : [];
  const { phone, email, about, mediaLinks = {}, certifications = [] } = isWhole ? PROFILE : {};
  const profile = [phone, email, about, JSON.stringify(mediaLinks), JSON.stringify(certifications)];
  await run(
    `INSERT INTO companies (status, name, folded, tokens, created_by, created_at,
       logo, phone, email, about, media_links, certifications)
     SELECT CASE WHEN n % 100 = 1 THEN 'DEACTIVATED' ELSE 'ACTIVE' END, name, folded, tokens::text[], $4, now(),
       ($6::text[])[1 + n % 1000], $7, $8, $9, $10::jsonb, $11::jsonb
     FROM generate_series(1, $5::int),
       unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS made (name, folded, tokens, n)`,
    [names, folded, folded.map(text => arrayOf(ngramsOf(text))), userId, NAMESAKES, logos, ...profile],
  );
  if (isWhole) {
    await run(
      `INSERT INTO company_value_chains (company_id, value_chain_id, position)
       SELECT companies.id, chain, position FROM companies, unnest($1::int[]) WITH ORDINALITY AS sent (chain, position)`,
      [await fillValueChains(database, userId)],
    );
    await run('VACUUM ANALYZE company_value_chains');
  }
  await run('CREATE INDEX companies_by_token ON companies USING gin (tokens) WITH (fastupdate = off)');
  await run(
    `INSERT INTO company_users (company_id, user_id, role)
     SELECT id, $1, 'COMPANY_ADMIN' FROM companies WHERE id % 1000 = 0`,
    [userId],
  );
  await run('VACUUM ANALYZE companies');
  await run('ANALYZE company_users');
  return { userId, names };
}

/** A list of texts as PostgreSQL writes one. */
function arrayOf(texts: readonly string[]): string {
  return `{${texts.map(text => JSON.stringify(text).replace('\\n', '\n')).join(',')}}`;
}
