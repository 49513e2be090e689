import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { labelFields } from '../../../../test/helpers/product-forms.ts';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let productId: number;
let label: { id: number; uuid: string };
beforeAll(async () => {
  trace = await runningTrace({ TRUST_PROXY: 'true' });
});
afterAll(() => trace.stop());

/** A published label that shows something of each kind: its own content, its owner, documents and certifications. */
beforeEach(async () => {
  kopanyi = await tenant(trace, 'Kopanyi');
  const { companyId } = kopanyi;
  const settings = { businessToCustomerSettings: { tabFeedback: true } };
  productId = await added(kopanyi.user, { name: 'Washed Bourbon', company: { id: companyId }, ...settings });
  const certifications = { name: 'company.certifications', section: 'company', visible: true };
  const fields = [...labelFields(['name', 'description', 'company.name']), certifications];
  label = await good('POST', '/api/product/label/create', { productId, title: 'Bourbon', fields });
  await good('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
});

async function good(method: string, path: string, body?: object) {
  const answer = await kopanyi.user.send(method, path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}

const open = (headers: Record<string, string> = {}) =>
  trace.send('GET', `/api/public/product/label/${label.uuid}`, undefined, headers);
const page = (headers: Record<string, string> = {}) => open({ accept: 'text/html', ...headers });
const tagOf = ({ headers }: { headers: Headers }) => headers.get('etag') as string;

test('page and JSON are repeated while nothing changes, and 304 for those who have them', async () => {
  for (const read of [open, page]) {
    const [first, second] = [await read(), await read()];
    expect([second.text, tagOf(second)]).toEqual([first.text, tagOf(first)]);
    const unchanged = await read({ 'if-none-match': tagOf(first) });
    expect([unchanged.status, unchanged.text, tagOf(unchanged)]).toEqual([304, '', tagOf(first)]);
  }
  expect(tagOf(await open())).not.toBe(tagOf(await page()));
  const thanks = await trace.send('GET', `/api/public/product/label/${label.uuid}?feedback=sent`, undefined, {
    accept: 'text/html',
  });
  expect(thanks.text).not.toBe((await page()).text);
});

test('every change of what is shown is seen at once, in page and JSON', async () => {
  const { companyId } = kopanyi;
  const batch = { labelId: label.id, number: 'B-001', checkAuthenticity: true };
  const changes: [string, () => Promise<unknown>][] = [
    ['title', () => good('PUT', '/api/product/label', { id: label.id, title: 'Bourbon 2026' })],
    [
      'own content',
      () => good('PUT', '/api/product/label/content', { labelId: label.id, description: 'From the hills' }),
    ],
    [
      'value of a field',
      () =>
        good('PUT', '/api/product/label/values', { id: label.id, fields: [{ name: 'note', value: 'New' }] }),
    ],
    [
      'certification of the owner',
      () => good('PUT', '/api/company/profile', { id: companyId, certifications: [{ type: 'EU organic' }] }),
    ],
    ['batch', () => good('POST', '/api/product/label_batch/create', batch)],
  ];
  for (const [name, change] of changes) {
    const before = [await open(), await page()];
    await change();
    const after = [await open(), await page()];
    for (const [index, { text }] of after.entries()) {
      expect(text, `${name}, ${index === 0 ? 'JSON' : 'page'}`).not.toBe(before[index]?.text);
      const read = index === 0 ? open : page;
      expect(
        (await read({ 'if-none-match': tagOf(before[index] as Awaited<ReturnType<typeof open>>) })).status,
        name,
      ).toBe(200);
    }
  }
});

test('a label of a product without own content shows the name of product and owner as they are now', async () => {
  const fields = [{ name: 'Altitude', value: 1700 }];
  label = await good('POST', '/api/product/label/create', { productId, fields });
  await good('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  const shown = async () => {
    const { product, company } = (await open()).body.data;
    return [product.name, company.name];
  };
  expect(await shown()).toEqual(['Washed Bourbon', 'Kopanyi']);
  await good('PUT', '/api/product', { id: productId, name: 'Natural Bourbon' });
  expect(await shown()).toEqual(['Natural Bourbon', 'Kopanyi']);
  await good('PUT', '/api/company/profile', { id: kopanyi.companyId, name: 'Kopanyi Cooperative' });
  expect(await shown()).toEqual(['Natural Bourbon', 'Kopanyi Cooperative']);
});

test('an unpublished label is gone at once, also for those who have its page', async () => {
  const { headers } = await page();
  await good('POST', '/api/product/label/execute/UNPUBLISH_LABEL', { id: label.id });
  const gone = [await page(), await page({ 'if-none-match': headers.get('etag') as string }), await open()];
  expect(gone.map(({ status }) => status)).toEqual([404, 404, 404]);
  await good('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  expect((await page()).status).toBe(200);
});

test('visits are counted for pages from the cache and for 304', async () => {
  const { headers } = await page({ 'x-forwarded-for': '192.0.2.1' });
  await page({ 'x-forwarded-for': '192.0.2.2' });
  await page({ 'x-forwarded-for': '192.0.2.3', 'if-none-match': headers.get('etag') as string });
  expect((await good('GET', `/api/product/label/analytics/${label.uuid}`)).visits).toBe(3);
});
