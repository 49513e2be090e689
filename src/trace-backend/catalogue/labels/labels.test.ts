import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../../test/helpers/browser.ts';
import { added, read, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { downloadFile, picture, uploadFile } from '../../../../test/helpers/images.ts';
import { readQrCode } from '../../../../test/helpers/qr-code.ts';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { prefersPage } from '../../../platform/http/page.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi <Cooperative>');
});
afterAll(() => trace.stop());

const PUBLIC = '/api/public/product/label';
const execute = (action: string, id: number) =>
  kopanyi.user.send('POST', `/api/product/label/execute/${action}`, { id });

async function labelled(content: object, product: object = {}) {
  const productId = await added(kopanyi.user, { name: 'Washed Bourbon', ...product });
  const answer = await kopanyi.user.send('POST', '/api/product/label/create', { productId, ...content });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return { productId, label: answer.body.data };
}

const fields = [
  { name: 'Altitude', section: 'Origin', value: 1700 },
  { name: 'Process', section: 'Making', value: 'Washed\nand dried', note: 'ours' },
  { name: 'Shade-grown', section: 'Origin', value: true },
];

test('a label is written, published, read by anybody, and taken back', async () => {
  const { productId, label } = await labelled({ title: 'Bourbon', language: 'EN', fields });
  expect(label).toEqual({
    id: expect.any(Number),
    productId,
    uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    status: 'UNPUBLISHED',
    title: 'Bourbon',
    language: 'EN',
    fields,
  });
  const paths = ['', '/qr.svg', '/qr.png', '/photo'];
  const look = () => Promise.all(paths.map(path => trace.send('GET', `${PUBLIC}/${label.uuid}${path}`)));
  const unknown = await trace.send('GET', `${PUBLIC}/7a0e6e0c-52b6-4f0e-9a5b-0e4f3f6f3c11`);
  for (const answer of await look()) expect([answer.status, answer.text]).toEqual([404, unknown.text]);
  expect((await trace.send('GET', `${PUBLIC}/x`)).text).toBe(unknown.text);

  expect((await execute('PUBLISH_LABEL', label.id)).body.data).toEqual({ ...label, status: 'PUBLISHED' });
  const [shown, ...others] = await look();
  expect(shown?.body.data).toEqual({
    ...{ id: label.id, productId, status: 'PUBLISHED' },
    ...{ numberOfBatches: 0, checkAuthenticityCount: 0, traceOriginCount: 0 },
    ...{ businessToCustomerSettings: {}, photosMeetTheFarmers: [], productionRecords: [] },
    certifications: [],
    uuid: label.uuid,
    title: 'Bourbon',
    language: 'EN',
    fields: fields.map(({ name, section, value }) => ({ name, section, value })),
    product: { name: 'Washed Bourbon' },
    company: { name: 'Kopanyi <Cooperative>' },
  });
  expect(others.map(({ status }) => status)).toEqual([200, 200, 404]);

  const change = { id: label.id, title: '', language: null, fields: { value: '0.5' } };
  const changed = await kopanyi.user.send('PUT', '/api/product/label', change);
  expect(changed.body.data).toEqual({
    id: label.id,
    productId,
    uuid: label.uuid,
    status: 'PUBLISHED',
    title: '',
    language: 'EN',
    fields: [{ value: '0.5' }],
  });
  expect((await read(kopanyi.user, productId)).labels).toEqual([changed.body.data]);

  await kopanyi.user.send('PUT', '/api/product', { id: productId, labels: [] });
  expect((await read(kopanyi.user, productId)).labels).toEqual([changed.body.data]);
  await execute('UNPUBLISH_LABEL', label.id);
  for (const answer of await look()) expect([answer.status, answer.text]).toEqual([404, unknown.text]);
  expect((await kopanyi.user.send('DELETE', `/api/product/label/${label.id}`)).status).toBe(200);
  expect((await kopanyi.user.send('DELETE', `/api/product/label/${label.id}`)).status).toBe(404);
  expect((await read(kopanyi.user, productId)).labels).toEqual([]);
});

test('removing a product takes its labels down; a label changes the version of its product', async () => {
  const { productId, label } = await labelled({ title: 'Bourbon' });
  await execute('PUBLISH_LABEL', label.id);
  await execute('PUBLISH_LABEL', label.id);
  expect((await kopanyi.user.send('GET', `/api/product/${productId}`)).headers.get('etag')).toBe('"3"');
  await kopanyi.user.send('DELETE', `/api/product/${productId}`);
  expect((await trace.send('GET', `${PUBLIC}/${label.uuid}`)).status).toBe(404);
});

test('a product has a hundred labels, at most', async () => {
  const { productId } = await labelled({});
  const fifty = Array.from({ length: 50 }, (_, n) => ({ title: `${n}` }));
  const send = (labels: object[]) => kopanyi.user.send('PUT', '/api/product', { id: productId, labels });
  await send(fifty);
  const { labels } = await read(kopanyi.user, productId);
  for (const { id } of labels) await execute('PUBLISH_LABEL', id);
  expect((await send(fifty)).status).toBe(200);
  const one = await kopanyi.user.send('POST', '/api/product/label/create', { productId });
  expect([one.status, one.body.errorMessage]).toEqual([400, 'a product has at most 100 labels']);
  const { label } = await labelled({});
  expect(label.fields).toEqual([]);
});

test("both codes lead to the public address, as a decoder of somebody else's reads them", async () => {
  const other = await runningTrace(
    { TRACE_PUBLIC_URL: 'https://labels.example.org/', CORS_ORIGINS: 'https://shop.example.org' },
    trace,
  );
  const { label } = await labelled({ title: 'Bourbon' });
  await execute('PUBLISH_LABEL', label.id);
  for (const [url, expected] of [
    [trace.url, trace.url],
    [other.url, 'https://labels.example.org'],
  ]) {
    for (const [name, type] of [
      ['qr.png', 'image/png'],
      ['qr.svg', 'image/svg+xml'],
    ]) {
      const response = await fetch(`${url}${PUBLIC}/${label.uuid}/${name}`);
      expect(response.headers.get('content-type')).toMatch(type as string);
      const image = await response.bytes();
      expect(await readQrCode(image, { density: 600, width: 600 })).toBe(
        `${expected}${PUBLIC}/${label.uuid}`,
      );
    }
    const read = await fetch(`${url}/api/product/label/${label.id}`, {
      headers: { cookie: kopanyi.user.cookie },
    });
    const { data } = (await read.json()) as { data: { url: string } };
    expect(data.url).toBe(`${expected}${PUBLIC}/${label.uuid}`);
  }
  const shop = await fetch(`${other.url}${PUBLIC}/${label.uuid}`, {
    headers: { origin: 'https://shop.example.org' },
  });
  expect(shop.headers.get('vary')?.toLowerCase()).toBe('origin, accept');
  await other.stop();
});

test('the picture of a published label is public, without metadata; nothing else of the product is', async () => {
  const bytes = await picture(2000, 1500)
    .jpeg()
    .withExif({ IFD0: { Copyright: 'Ana' } })
    .toBuffer();
  const image = (await uploadFile(trace, kopanyi.user, 'image', bytes)).body.data;
  const { label } = await labelled(
    {},
    { photo: { storageKey: image.storageKey }, description: 'Not for you' },
  );
  await execute('PUBLISH_LABEL', label.id);
  const { body, text } = await trace.send('GET', `${PUBLIC}/${label.uuid}`);
  expect(text).not.toContain('Not for you');
  expect(text).not.toContain(image.storageKey);
  const shown = await fetch(trace.url + body.data.photo);
  const { width, height, exif } = await sharp(Buffer.from(await shown.arrayBuffer())).metadata();
  expect([shown.status, width, height, exif]).toEqual([200, 960, 720, undefined]);
  expect((await downloadFile(trace, { cookie: '' }, `image/${image.storageKey}`)).status).toBe(401);
});

test("browsers get a page: escaped, without scripts, in the label's language, readable on a phone", async () => {
  const bytes = await sharp({
    create: {
      width: 900,
      height: 600,
      channels: 3,
      background: '#7c5a3c',
      noise: { type: 'gaussian', mean: 110, sigma: 40 },
    },
  })
    .jpeg()
    .toBuffer();
  const image = (await uploadFile(trace, kopanyi.user, 'image', bytes)).body.data;
  const evil = '<script>alert(1)</script>';
  const { label } = await labelled(
    {
      title: `"Bourbon" & ${evil}`,
      language: 'DE',
      fields: [
        ...fields,
        { name: evil, section: `'${evil}`, value: `<img src=x onerror="alert(1)">${evil}` },
        { name: 'الارتفاع', section: 'المنشأ', value: 'نياماشيكي' },
        { name: 'Left empty', value: '' },
        { name: 'A long word', value: 'x'.repeat(300) },
      ],
    },
    { photo: { storageKey: image.storageKey } },
  );
  await execute('PUBLISH_LABEL', label.id);
  const url = `${trace.url}${PUBLIC}/${label.uuid}`;
  const browser = await openBrowser({ width: 390, height: 844 });
  try {
    const answer = await browser.page.goto(url);
    expect(answer?.headers()['content-type']).toBe('text/html; charset=utf-8');
    expect(answer?.headers()['content-security-policy']).not.toMatch(/unsafe|script/);
    expect(answer?.headers().vary).toMatch(/accept/i);
    expect(await browser.page.locator('h1').textContent()).toBe(`"Bourbon" & ${evil}`);
    expect(await browser.page.locator('script, [onerror]').count()).toBe(0);
    expect(await browser.page.locator('html').getAttribute('lang')).toBe('de');
    expect(await browser.page.locator('h2').allTextContents()).toEqual([
      'Origin',
      'Making',
      `'${evil}`,
      'المنشأ',
    ]);
    expect(await browser.page.locator('dt').allTextContents()).not.toContain('Left empty');
    const wide = await browser.page.evaluate('document.documentElement.scrollWidth');
    expect(wide).toBe(390);
    expect(await browser.page.evaluate("document.querySelector('img').naturalWidth")).toBe(900);
    if (process.env.SCREENSHOTS) {
      await browser.page.screenshot({ path: `${process.env.SCREENSHOTS}/label.png`, fullPage: true });
    }
    expect(browser.complaints).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('who asks for JSON, or for anything, gets JSON', () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  for (const accept of [browser, 'text/html', 'text/*;q=0.5, */*;q=0.1', 'application/json;q=0, */*']) {
    expect(prefersPage(accept), accept).toBe(true);
  }
  for (const accept of [
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json, text/html',
    'image/png',
  ]) {
    expect(prefersPage(accept), accept).toBe(false);
  }
});
