import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { ACTIONS } from './record/schemas.ts';

let trace: RunningTrace;
let ana: LoggedIn;
let bo: LoggedIn;
let theirs: number;
/** An id that no company has. */
const UNKNOWN = 1_234_567;

beforeAll(async () => {
  trace = await runningTrace();
  [ana, bo] = [await trace.loggedIn(), await trace.loggedIn()];
  theirs = (await ana.send('POST', '/api/company/create', { name: 'Theirs', about: 'a secret' })).body.data
    .id;
  await bo.send('POST', '/api/company/create', { name: 'Ours' });
});
afterAll(() => trace.stop());

interface Attempt {
  method: string;
  path: string;
  body?: object;
}

/** What somebody may try with the id of a company that is not theirs, wherever an id can stand. */
const attempt = fc.record({
  route: fc.constantFrom('read', 'update', ...ACTIONS),
  asText: fc.boolean(),
  about: fc.option(fc.string({ maxLength: 20, unit: 'grapheme' }), { nil: undefined }),
  logo: fc.option(fc.constantFrom({ storageKey: 'x' }, { storageKey: '' }), { nil: undefined }),
  userId: fc.constantFrom('ana', 'bo', 'nobody', undefined),
  companyUserRole: fc.constantFrom('COMPANY_ADMIN', 'MANAGER', undefined),
  ifMatch: fc.constantFrom(undefined, '*', '"1"', '"7"'),
});
type Try = typeof attempt extends fc.Arbitrary<infer Value> ? Value : never;

function requestOf({ route, asText, about, logo, userId, companyUserRole }: Try, companyId: number): Attempt {
  const id = asText ? String(companyId) : companyId;
  if (route === 'read') return { method: 'GET', path: `/api/company/profile/${companyId}` };
  if (route === 'update') {
    return { method: 'PUT', path: '/api/company/profile', body: { id, name: 'Mine', about, logo } };
  }
  const users = { ana: ana.id, bo: bo.id, nobody: UNKNOWN };
  const body = { companyId: id, userId: userId && users[userId as keyof typeof users], companyUserRole };
  return { method: 'POST', path: `/api/company/execute/${route}`, body };
}

const everything = async () => {
  const { rows } = await trace.pool.query(
    'SELECT * FROM companies LEFT JOIN company_users ON company_id = companies.id ORDER BY companies.id, user_id',
  );
  return rows;
};

test('whatever a stranger tries with the id of a company, it answers as for one that does not exist', async () => {
  const before = await everything();
  await fc.assert(
    fc.asyncProperty(attempt, async made => {
      const headers: Record<string, string> = made.ifMatch ? { 'if-match': made.ifMatch } : {};
      const send = async (companyId: number) => {
        const { method, path, body } = requestOf(made, companyId);
        return bo.send(method, path, body, headers);
      };
      const [foreign, unknown] = [await send(theirs), await send(UNKNOWN)];
      expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body]);
      expect([403, 404]).toContain(foreign.status);
      // Refused by the role alone, whatever the id.
      const isForAdmins = /ACTIVATE_COMPANY$|^MERGE_TO_COMPANY$/.test(made.route);
      if (!isForAdmins) expect(foreign.body.status).toBe('NOT_FOUND');
      expect(foreign.headers.get('etag')).toBe(unknown.headers.get('etag'));
    }),
    { numRuns: 150 },
  );
  expect(await everything()).toEqual(before);
});

test('ids that are none are found nowhere, and nobody finds others by searching', async () => {
  for (const id of ['0', '-1', '1e0', '2147483648', '99999999999', `${theirs}.0`, `%20${theirs}`, 'x']) {
    expect((await bo.send('GET', `/api/company/profile/${id}`)).status, id).toBe(404);
  }
  for (const query of ['query=Theirs', 'query=e', 'status=ACTIVE', 'sortBy=name', 'offset=0']) {
    const { items } = (await bo.send('GET', `/api/company/list?${query}`)).body.data;
    expect(
      items.map(({ id }: { id: number }) => id),
      query,
    ).not.toContain(theirs);
  }
  expect((await bo.send('GET', '/api/company/admin/list')).status).toBe(403);
});
