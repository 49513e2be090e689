import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { ADMIN, type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(() => trace.stop());

let count = 0;
async function valueChain(): Promise<number> {
  const code = { code: `TYPE_${++count}`, label: 'Station' };
  const { id } = (await admin.send('PUT', '/api/chain/facility-type', code)).body.data;
  const body = { name: `Coffee ${count}`, description: 'Cherry', facilityTypes: [{ id, ...code }] };
  const answer = await admin.send('PUT', '/api/chain/value-chain', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.id;
}
const update = (id: number, body: object) => kopanyi.user.send('PUT', '/api/product/', { id, ...body });

test('a product has a value chain, which stays when it is left out and is cleared by an empty text', async () => {
  const [first, second] = [await valueChain(), await valueChain()];
  const whole = (await kopanyi.user.send('GET', `/api/chain/value-chain/${first}`)).body.data;
  const id = await added(kopanyi.user, { name: 'Tea', valueChain: whole });
  const product = await read(kopanyi.user, id);
  expect(product.valueChain).toEqual({
    ...{ id: first, name: 'Coffee 1', description: 'Cherry', valueChainStatus: 'ENABLED' },
  });
  for (const body of [{}, { valueChain: null }, { valueChain: {} }, product]) await update(id, body);
  const unchanged = await kopanyi.user.send('GET', `/api/product/${id}`);
  expect([unchanged.headers.get('etag'), unchanged.body.data]).toEqual(['"1"', product]);

  await update(id, { valueChain: { id: String(second) } });
  expect((await read(kopanyi.user, id)).valueChain).toMatchObject({ id: second });
  await update(id, { valueChain: '' });
  expect((await read(kopanyi.user, id)).valueChain).toEqual({});
  const { items } = (await kopanyi.user.send('GET', `/api/product/${id}/history?sort=ASC`)).body.data;
  expect(items).toMatchObject([
    { path: '' },
    { path: 'valueChain.id', before: first, after: second },
    { path: 'valueChain', before: { id: second } },
  ]);
});

test('only enabled value chains can be chosen, and one in use is not deleted', async () => {
  const [used, disabled] = [await valueChain(), await valueChain()];
  const id = await added(kopanyi.user, { name: 'Green tea', valueChain: { id: used } });
  await admin.send('POST', `/api/chain/value-chain/${disabled}/disable`);
  for (const unknown of [disabled, 999_999]) {
    const answer = await update(id, { valueChain: { id: unknown } });
    expect([answer.status, Object.keys(answer.body.validationErrorDetails.fieldErrors)]).toEqual([
      400,
      ['valueChain.id'],
    ]);
  }
  const refused = await admin.send('DELETE', `/api/chain/value-chain/${used}`);
  expect([refused.status, refused.body.errorMessage]).toEqual([400, expect.stringContaining('Green tea')]);
  await admin.send('POST', `/api/chain/value-chain/${used}/disable`);
  expect((await update(id, { name: 'Tea', valueChain: { id: used } })).status).toBe(200);
});
