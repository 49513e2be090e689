import fc from 'fast-check';
import type { Sql } from 'sql-template-tag';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FILLING, fillCompanies, NAMESAKES } from '../../../../test/helpers/many-companies.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { openPool } from '../../../platform/database/database.ts';
import { openLists } from '../../base/lists/lists.ts';
import { foldName } from '../../base/lists/search.ts';
import { gatherStatement, walkStatement } from '../../base/lists/store.ts';
import { type CompanyFilter, type CompanySort, listCompanies, listSource } from './record/store.ts';

const COUNT = 100_000;

let trace: RunningTrace;
let admin: LoggedIn;
let userId: number;
let names: string[];
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('REGIONAL_ADMIN');
  const pool = openPool(trace.connection, 'trace_backend', 1, FILLING);
  ({ userId, names } = await fillCompanies(pool, COUNT));
  await pool.end();
}, 300_000);
afterAll(() => trace.stop());

async function list(query: Record<string, string | number>, user = admin, path = 'admin/list') {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const answer = await user.send('GET', `/api/company/${path}?${text}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data as { items: { id: number; name: string; status: string }[]; count: number };
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Plan[];
}

/** The nodes of PostgreSQL's plan for a statement, outermost first. */
async function planOf({ text, values }: Sql): Promise<Plan[]> {
  const { rows } = await trace.pool.query(`EXPLAIN (FORMAT JSON) ${text}`, values);
  const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];
  return flat(rows[0]['QUERY PLAN'][0].Plan);
}

const lists = openLists();
async function sourceOf(filter: CompanyFilter, sortBy: CompanySort) {
  const { query } = filter;
  const tokens = query === undefined ? [] : await lists.ngramsFor(trace.pool, 'companies', foldName(query));
  return listSource(filter, sortBy, tokens);
}
const pageBy = (sortBy: CompanySort, offset = 0) => ({ sortBy, sort: 'ASC' as const, limit: 100, offset });

test('among 100,000 companies rare matches are gathered by an index, frequent ones found by a walk', async () => {
  const filters: [CompanyFilter, 'rare' | 'frequent'][] = [
    [{}, 'frequent'],
    [{ status: 'ACTIVE' }, 'frequent'],
    [{ query: 'kivu' }, 'frequent'],
    [{ query: 'i' }, 'frequent'],
    [{ status: 'DEACTIVATED' }, 'rare'],
    ...['kivu 77', '7777', '云南 777', 'समिति कोडगु 77', 'nowhere'].map(
      query => [{ query }, 'rare'] as [CompanyFilter, 'rare'],
    ),
    [{ query: 'huye', status: 'DEACTIVATED' }, 'rare'],
    [{ status: 'REGISTERED' }, 'rare'],
    [{ ids: [1, 50_000, 99_999] }, 'rare'],
    [{ userId }, 'rare'],
    [{ userId, query: 'kivu' }, 'rare'],
    [{ userId, status: 'ACTIVE' }, 'rare'],
  ];
  for (const [filter, kind] of filters) {
    for (const sortBy of ['id', 'name', 'status'] as CompanySort[]) {
      const source = await sourceOf(filter, sortBy);
      const plan = await planOf(
        kind === 'rare'
          ? gatherStatement(source, pageBy(sortBy, 500), 10_001)
          : walkStatement(source, pageBy(sortBy), 10_000),
      );
      const name = `${JSON.stringify(filter)} ${sortBy} ${JSON.stringify(plan)}`;
      const whole = plan.filter(
        node => node['Relation Name'] === 'companies' && /Seq/.test(node['Node Type']),
      );
      expect(whole, name).toEqual([]);
      expect(
        plan.some(node => node['Index Name']?.startsWith('companies_')),
        name,
      ).toBe(true);
    }
  }
});

test('a search uses the tokens, even if its parts are frequent', async () => {
  for (const query of ['7777', 'kivu 77', '云南 777']) {
    const plan = await planOf(gatherStatement(await sourceOf({ query }, 'name'), pageBy('name'), 10_001));
    expect(
      plan.some(node => node['Index Name'] === 'companies_by_token'),
      query,
    ).toBe(true);
  }
});

test('a search finds parts of names in any script and case, and nothing else', async () => {
  const part = fc
    .tuple(fc.nat({ max: COUNT / NAMESAKES - 1 }), fc.nat(), fc.integer({ min: 1, max: 12 }), fc.boolean())
    .map(([n, from, length, upper]) => {
      const points = [...(names[n] as string)];
      const text = points.slice(from % points.length, (from % points.length) + length).join('');
      return upper ? text.toUpperCase() : text;
    })
    .filter(text => text.trim() !== '');
  await fc.assert(
    fc.asyncProperty(part, async query => {
      const wanted = names.filter(name => foldName(name).includes(foldName(query)));
      const { items, count } = await list({ query, limit: 20 });
      const all = wanted.length * NAMESAKES;
      if (all <= 10_000) expect(count).toBe(all);
      else expect(Math.abs(count / all - 1)).toBeLessThan(0.4);
      expect(items.length).toBe(Math.min(20, all));
      expect(items.every(({ name }) => wanted.includes(name))).toBe(true);
    }),
    { numRuns: runs(40) },
  );
  expect(await list({ query: 'Kivu%' })).toMatchObject({ items: [], count: 0 });
  const [name = ''] = names;
  for (const [limit, offset, found] of [
    [NAMESAKES, 0, NAMESAKES],
    [3, NAMESAKES - 1, 1],
    [3, NAMESAKES, 0],
    [3, NAMESAKES + 5, 0],
  ] as const) {
    const { items, count } = await list({ query: name, limit, offset });
    expect([items.length, count]).toEqual([found, NAMESAKES]);
  }
});

test('the pages of a list in any order have no gaps or duplicates', async () => {
  const wanted = names.filter(name => name.includes('Kopanyi Jimma 1')).toSorted();
  expect(wanted.length).toBeGreaterThan(10);
  for (const sort of ['ASC', 'DESC']) {
    for (const sortBy of ['id', 'name', 'status']) {
      const seen: { id: number; name: string; status: string }[] = [];
      for (let offset = 0; offset < wanted.length * NAMESAKES; offset += 70) {
        const page = await list({ query: 'kopanyi jimma 1', sortBy, sort, limit: 70, offset });
        expect(page.count).toBe(wanted.length * NAMESAKES);
        seen.push(...page.items);
      }
      expect(new Set(seen.map(({ id }) => id)).size).toBe(wanted.length * NAMESAKES);
      const values = seen.map(item => item[sortBy as 'name']);
      const up = values.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0));
      expect(values, `${sortBy} ${sort}`).toEqual(sort === 'ASC' ? up : up.toReversed());
      expect([...new Set(seen.map(({ name }) => name))].toSorted()).toEqual(wanted);
    }
  }
});

test('users list only their own companies, by status and name', async () => {
  const user = await trace.loggedIn();
  expect(await list({}, user, 'list')).toMatchObject({ items: [], count: 0 });
  await trace.pool.query(
    'INSERT INTO company_users SELECT company_id, $1, role FROM company_users WHERE user_id = $2',
    [user.id, userId],
  );
  const { rows } = await trace.pool.query(
    'SELECT id FROM companies WHERE id % 1000 = 0 ORDER BY id DESC LIMIT 3',
  );
  const own = await list({ limit: 3 }, user, 'list');
  expect(own).toMatchObject({ items: rows, count: COUNT / 1000 });
  const { items } = await list({ query: own.items[0]?.name as string }, user, 'list');
  expect(items.every(({ id }) => id % 1000 === 0)).toBe(true);
  expect(new Set(items.map(({ name }) => name))).toEqual(new Set([own.items[0]?.name]));
  expect((await list({ status: 'DEACTIVATED' }, user, 'list')).count).toBe(0);
  expect((await list({ status: 'DEACTIVATED' })).count).toBe(COUNT / 100);
  expect(await list({ status: 'REGISTERED' })).toMatchObject({ items: [], count: 0 });
  expect((await list({ status: 'ACTIVE', limit: 1 })).items).toHaveLength(1);
  for (const [field, value] of Object.entries({ status: 'GONE', limit: '0', query: '%00', sort: 'UP' })) {
    const { status, body } = await user.send('GET', `/api/company/list?${field}=${value}`);
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)]).toEqual([400, [field]]);
  }
});

test('the estimate of a long search is cached for a second, and then renewed by one request', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const query = vi.spyOn(trace.pool, 'query');
    const pages = async (...offsets: number[]) => {
      query.mockClear();
      const read = (offset: number) =>
        listCompanies(trace.pool, lists, { query: 'kivu' }, pageBy('id', offset));
      for (const { items, count } of await Promise.all(offsets.map(read))) {
        expect(items).toHaveLength(100);
        expect(count).toBeGreaterThan(10_000);
      }
      return query.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('list_total'))
        .length;
    };
    expect(await pages(0)).toBe(1);
    expect(await pages(100)).toBe(0);
    vi.advanceTimersByTime(999);
    expect(await pages(200, 300)).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await pages(400, 500, 600)).toBe(1);
    await trace.pool.query("UPDATE companies SET folded = '', tokens = '{}' WHERE id % 2 = 0");
    vi.advanceTimersByTime(1000);
    expect((await listCompanies(trace.pool, lists, { query: 'kivu' }, pageBy('id'))).count).toBeLessThan(
      10_000,
    );
    expect((await listCompanies(trace.pool, lists, { query: 'kivu' }, pageBy('id'))).count).toBeLessThan(
      10_000,
    );
  } finally {
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
});
