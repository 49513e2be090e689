import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { companyForm, productForm } from '../../../../../test/helpers/product-forms.ts';
import { ADMIN, type LoggedIn, type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(() => trace.stop());

async function valueChain(name: string, body: object = {}): Promise<number> {
  const answer = await admin.send('PUT', '/api/chain/value-chain', { name, ...body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.id;
}
const update = ({ user, companyId: id }: Tenant, body: object) =>
  user.send('PUT', '/api/company/profile', { id, ...body });
const profile = async ({ user, companyId }: Tenant, headers = {}) =>
  (await user.send('GET', `/api/company/profile/${companyId}`, undefined, headers)).body.data;
const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);
const wrong = ({ status, body }: Awaited<ReturnType<LoggedIn['send']>>) => [
  status,
  Object.keys(body.validationErrorDetails?.fieldErrors ?? {}),
];

test('a company has the value chains of its form, in order and without duplicates; omitted, they stay', async () => {
  const type = {
    code: 'TEA',
    translations: [
      { name: 'Tea', language: 'EN' },
      { name: 'Té', language: 'ES' },
    ],
  };
  const { id: typeId } = (await admin.send('POST', '/api/product-type', type)).body.data;
  const tea = await valueChain('Tea', { productType: { id: typeId } });
  const coffee = await valueChain('Coffee', { description: 'Cherry to cup' });
  const whole = (await kopanyi.user.send('GET', `/api/chain/value-chain/${tea}`)).body.data;

  const sent = { ...companyForm(0), id: null, valueChains: [whole, { id: String(coffee) }, { id: tea }] };
  const { user } = kopanyi;
  const { id: companyId } = (await user.send('POST', '/api/company/create', sent)).body.data;
  const company = await profile({ user, companyId }, { language: 'ES' });
  expect(company.valueChains).toEqual([
    {
      id: tea,
      name: 'Tea',
      valueChainStatus: 'ENABLED',
      productType: { id: typeId, code: 'TEA', name: 'Té' },
    },
    { id: coffee, name: 'Coffee', description: 'Cherry to cup', valueChainStatus: 'ENABLED' },
  ]);
  const listed = await user.send('GET', `/api/company/${companyId}/value-chains?limit=1000`);
  expect(new Set(idsOf(listed.body.data.items))).toEqual(new Set([tea, coffee]));

  for (const body of [{}, { valueChains: null }, company]) await update({ user, companyId }, body);
  const unchanged = await user.send('GET', `/api/company/profile/${companyId}`);
  expect([unchanged.headers.get('etag'), idsOf(unchanged.body.data.valueChains)]).toEqual([
    '"1"',
    [tea, coffee],
  ]);
  await update({ user, companyId }, { valueChains: [{ id: coffee }] });
  expect(idsOf((await profile({ user, companyId })).valueChains)).toEqual([coffee]);
  await update({ user, companyId }, { valueChains: [] });
  expect((await profile({ user, companyId })).valueChains).toEqual([]);
  const audit = await admin.send('GET', '/api/audit/list?entity=company&action=UPDATE_COMPANY');
  expect(audit.body.data.items.map(({ details }: { details: object }) => details)).toEqual([
    { fields: ['valueChains'] },
    { fields: ['valueChains'] },
  ]);
});

test('the owner in a product has its value chains, in the language of the caller', async () => {
  const type = {
    code: 'NUT',
    translations: [
      { name: 'Nut', language: 'EN' },
      { name: 'Nuss', language: 'DE' },
    ],
  };
  const { id: typeId } = (await admin.send('POST', '/api/product-type', type)).body.data;
  const nuts = await valueChain('Nuts', { productType: { id: typeId } });
  await update(kopanyi, { valueChains: [{ id: nuts }] });
  const form = { ...productForm(await profile(kopanyi), ''), photo: null };
  const id = await added(kopanyi.user, form);
  expect((await read(kopanyi.user, id)).company.valueChains).toMatchObject([
    { productType: { name: 'Nut' } },
  ]);
  const german = await kopanyi.user.send('GET', `/api/product/${id}`, undefined, { language: 'DE' });
  expect(german.body.data.company.valueChains).toMatchObject([{ id: nuts, productType: { name: 'Nuss' } }]);
});

test('unknown and disabled value chains are refused with their path; a disabled one that a company has may stay', async () => {
  const [kept, disabled] = [await valueChain('Kept'), await valueChain('Disabled')];
  await update(kopanyi, { valueChains: [{ id: kept }] });
  for (const id of [kept, disabled]) await admin.send('POST', `/api/chain/value-chain/${id}/disable`);
  for (const id of [disabled, 999_999]) {
    expect(wrong(await update(kopanyi, { valueChains: [{ id: kept }, { id }] }))).toEqual([
      400,
      ['valueChains.1.id'],
    ]);
    const created = { name: 'Other', valueChains: [{ id }] };
    const answer = await kopanyi.user.send('POST', '/api/company/create', created);
    expect(wrong(answer)).toEqual([400, ['valueChains.0.id']]);
  }
  const many = Array.from({ length: 101 }, () => ({ id: kept }));
  expect(wrong(await update(kopanyi, { valueChains: many }))).toEqual([400, ['valueChains']]);
  expect((await update(kopanyi, { about: 'Us', valueChains: [{ id: kept }] })).status).toBe(200);
  expect(await profile(kopanyi)).toMatchObject({
    about: 'Us',
    valueChains: [{ id: kept, valueChainStatus: 'DISABLED' }],
  });
  const stranger = await tenant(trace, 'Stranger');
  const foreign = { user: stranger.user, companyId: kopanyi.companyId };
  expect((await update(foreign, { valueChains: [] })).status).toBe(404);
});

test('a merge moves the value chains of a company, including disabled ones', async () => {
  const [one, two, three] = [await valueChain('One'), await valueChain('Two'), await valueChain('Three')];
  const [from, into] = [await tenant(trace, 'From'), await tenant(trace, 'Into')];
  await update(from, { valueChains: [{ id: three }, { id: one }] });
  await update(into, { valueChains: [{ id: two }, { id: three }] });
  await admin.send('POST', `/api/chain/value-chain/${one}/disable`);
  const merge = { companyId: from.companyId, otherCompanyId: into.companyId };
  const answer = await admin.send('POST', '/api/company/execute/MERGE_TO_COMPANY', merge);
  expect(answer.status, answer.text).toBe(200);
  expect(idsOf((await profile({ ...into, user: admin })).valueChains)).toEqual([two, three, one]);
  expect((await profile({ ...from, user: admin })).valueChains).toEqual([]);
});

test('companies with too many value chains in total are not merged', async () => {
  const [from, into] = [await tenant(trace, 'Many'), await tenant(trace, 'More')];
  const chains: { id: number }[] = [];
  for (let n = 0; n <= 100; n++) chains.push({ id: await valueChain(`Chain ${n}`) });
  await update(from, { valueChains: chains.slice(0, 51) });
  await update(into, { valueChains: chains.slice(51) });
  const merge = { companyId: from.companyId, otherCompanyId: into.companyId };
  const refused = await admin.send('POST', '/api/company/execute/MERGE_TO_COMPANY', merge);
  expect([refused.status, refused.body.errorMessage]).toEqual([
    400,
    'together the companies have more than 100 value chains, which is the maximum',
  ]);
  expect((await profile({ ...from, user: admin })).valueChains).toHaveLength(51);
});
