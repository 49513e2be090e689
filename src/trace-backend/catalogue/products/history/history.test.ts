import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { runs } from '../../../../../test/helpers/property.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';
import { changesBetween } from './changes.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

const history = async (user: LoggedIn, id: number, query = '') =>
  (await user.send('GET', `/api/product/${id}/history${query}`)).body.data;

test('the history has the author, time and field of each change, and the value before', async () => {
  const { user, companyId } = kopanyi;
  const id = await added(user, { name: 'Tea', origin: { text: 'A', locations: [{ latitude: 1 }] } });
  await user.send('PUT', '/api/product', {
    id,
    name: 'Green tea',
    origin: { locations: [{ latitude: 2, pinName: 'Hill' }] },
  });
  await user.send('PUT', '/api/product', { id, name: 'Green tea' });
  await admin.send('PUT', '/api/product', { id, origin: { locations: [] }, labels: [{ title: 'Tea' }] });
  const [label] = (await read(user, id)).labels;
  await user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });

  const { items, count } = await history(user, id, '?sort=ASC');
  expect(count).toBe(7);
  const by = (who: LoggedIn, version: number) => ({
    id: expect.any(Number),
    at: expect.stringMatching(/^20\d\d-.*Z$/),
    version,
    user: { id: who.id, name: 'Ana', surname: 'Uwase' },
  });
  const { id: labelId, uuid } = label;
  expect(items).toEqual([
    { ...by(user, 1), path: '' },
    { ...by(user, 2), path: 'origin.locations.0.latitude', before: 1, after: 2 },
    { ...by(user, 2), path: 'origin.locations.0.pinName', after: 'Hill' },
    { ...by(user, 2), path: 'name', before: 'Tea', after: 'Green tea' },
    { ...by(admin, 3), path: 'origin.locations', before: [{ latitude: 2, pinName: 'Hill' }], after: [] },
    {
      ...by(admin, 3),
      path: `labels.${labelId}`,
      after: { uuid, status: 'UNPUBLISHED', title: 'Tea' },
    },
    { ...by(user, 4), path: `labels.${labelId}.status`, before: 'UNPUBLISHED', after: 'PUBLISHED' },
  ]);
  expect(await history(user, id, '?limit=2&offset=1')).toEqual({
    items: [items[5], items[4]],
    count: 7,
    offset: 1,
    limit: 2,
  });
  expect(companyId).toBeGreaterThan(0);
});

test('a history of large values is complete, and keeps their order and names', async () => {
  const { user } = kopanyi;
  const id = await added(user, { name: 'Tea' });
  const text = (n: number) => `${n} ${'é'.repeat(400_000)}`;
  await trace.pool.query(
    `INSERT INTO product_changes (product_id, version, at, user_id, path, before, after)
     SELECT $1, n + 1, now(), $2, 'origin.more', CASE WHEN n > 1 THEN to_json(text) END, to_json(text || '!')
     FROM unnest($3::text[]) WITH ORDINALITY AS made (text, n) ORDER BY n`,
    [id, user.id, Array.from({ length: 40 }, (_, n) => text(n))],
  );
  const answer = await user.send('GET', `/api/product/${id}/history?sort=ASC`);
  expect(answer.text.length).toBeGreaterThan(25_000_000);
  const { items, count, offset, limit } = answer.body.data;
  expect([items.length, count, offset, limit]).toEqual([41, 41, 0, 100]);
  expect(items[1]).toMatchObject({
    path: 'origin.more',
    after: `${text(0)}!`,
    user: { id: user.id, name: 'Ana' },
  });
  expect('before' in items[1]).toBe(false);
  expect(items[40]).toMatchObject({ version: 41, before: text(39) });
  const counted = await user.send('GET', `/api/product/${id}/history?requestType=COUNT`);
  expect(counted.body).toEqual({ status: 'OK', data: { count: 41, offset: 0, limit: 100 } });
});

test('the history of a removed product keeps its content, and is never changed', async () => {
  const { user } = kopanyi;
  const id = await added(user, { name: 'Tea', description: 'Kept' });
  expect((await user.send('DELETE', `/api/product/${id}`)).body).toEqual({ status: 'OK' });
  for (const answer of [
    await user.send('GET', `/api/product/${id}`),
    await user.send('DELETE', `/api/product/${id}`),
    await user.send('PUT', '/api/product', { id, name: 'x' }),
    await user.send('GET', `/api/product/${id}/history`),
  ]) {
    expect([answer.status, answer.body.status]).toEqual([404, 'NOT_FOUND']);
  }
  const { items } = await history(admin, id);
  expect(items[0]).toMatchObject({ path: '', before: { name: 'Tea', description: 'Kept' } });
  await expect(trace.pool.query('DELETE FROM product_changes')).rejects.toThrow(/permission denied/);
  const { rows } = await trace.pool.query(
    "SELECT action, user_id FROM audit WHERE entity = 'product' AND entity_id = $1 ORDER BY id",
    [String(id)],
  );
  expect(rows).toEqual([
    { action: 'CREATE_PRODUCT', user_id: user.id },
    { action: 'DELETE_PRODUCT', user_id: user.id },
  ]);
});

test('the changes between any two states lead from the one to the other', () => {
  const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null));
  const { state } = fc.letrec(tie => ({
    state: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('state'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('state')),
    ),
  }));
  fc.assert(
    fc.property(fc.record({ of: state }), fc.record({ of: state }), (before, after) => {
      let made: unknown = structuredClone(before);
      for (const change of changesBetween(before, after)) made = put(made, change.path, change.after);
      expect(made).toEqual(after);
      expect(changesBetween(after, structuredClone(after))).toEqual([]);
    }),
    { numRuns: runs(100) },
  );
});

test('a change of more than a thousand fields is listed by top-level fields', () => {
  const list = (value: number, length: number) => ({
    origin: { list: Array(length).fill(value) },
    name: 'x',
  });
  expect(changesBetween(list(1, 1000), list(2, 1000))).toHaveLength(1000);
  expect(changesBetween(list(1, 1001), list(2, 1001))).toEqual([
    { path: 'origin', before: list(1, 1001).origin, after: list(2, 1001).origin },
  ]);
});

function put(state: unknown, path: string, value: unknown): unknown {
  if (path === '') return value;
  const steps = path.split('.');
  const last = steps.pop() as string;
  // biome-ignore lint/suspicious/noExplicitAny: any shape of JSON
  const at = steps.reduce<any>((inner, step) => inner[step], state);
  if (value === undefined) delete at[last];
  else at[last] = value;
  return state;
}
