import { hash } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { downloadFile, picture, uploadFile } from '../../../../test/helpers/images.ts';
import { labelFields } from '../../../../test/helpers/product-forms.ts';
import { readQrCode } from '../../../../test/helpers/qr-code.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
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

test('a label is written, published, read by anybody, and unpublished', async () => {
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
    id: label.id,
    productId,
    status: 'PUBLISHED',
    numberOfBatches: 0,
    checkAuthenticityCount: 0,
    traceOriginCount: 0,
    businessToCustomerSettings: {},
    photosMeetTheFarmers: [],
    productionRecords: [],
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

test('removing a product removes its labels; a label changes the version of its product', async () => {
  const { productId, label } = await labelled({ title: 'Bourbon' });
  await execute('PUBLISH_LABEL', label.id);
  await execute('PUBLISH_LABEL', label.id);
  expect((await kopanyi.user.send('GET', `/api/product/${productId}`)).headers.get('etag')).toBe('"3"');
  await kopanyi.user.send('DELETE', `/api/product/${productId}`);
  expect((await trace.send('GET', `${PUBLIC}/${label.uuid}`)).status).toBe(404);
});

test('a product has up to a hundred labels', async () => {
  const { productId } = await labelled({});
  const fifty = Array.from({ length: 50 }, (_, n) => ({ title: `${n}` }));
  const send = (labels: object[]) => kopanyi.user.send('PUT', '/api/product', { id: productId, labels });
  await send(fifty);
  const { labels } = await read(kopanyi.user, productId);
  for (const { id } of labels) await execute('PUBLISH_LABEL', id);
  expect((await send(fifty)).status).toBe(200);
  const refused = await kopanyi.user.send('POST', '/api/product/label/create', { productId });
  expect([refused.status, refused.body.errorMessage]).toEqual([400, 'a product has at most 100 labels']);
  const { label } = await labelled({});
  expect(label.fields).toEqual([]);
});

test('both codes contain the public URL, as an independent decoder reads them', async () => {
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

test("only the picture of a published label's product is public, without metadata", async () => {
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

test('clients that accept JSON, or anything, get JSON', () => {
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

const nobody = { cookie: '' };
const PATHS = (key: string) => [`image/${key}`, `image/${key}/SMALL`, `document/${key}`];

async function uploaded(user: Parameters<typeof uploadFile>[1], kind: 'image' | 'document') {
  const bytes = await picture(900, 600).jpeg().toBuffer();
  return (await uploadFile(trace, user, kind, bytes)).body.data.storageKey as string;
}

/** A label that shows these fields of its content, with functions that act on it. */
async function labelOf(user: LoggedIn, productId: number, visible: string[]) {
  const body = { productId, title: 'Tea', fields: labelFields(visible) };
  const created = await user.send('POST', '/api/product/label/create', body);
  expect(created.status, created.text).toBe(200);
  return async (action: string) => {
    const path = `/api/product/label/execute/${action}`;
    const { status, text } = await user.send('POST', path, { id: created.body.data.id });
    expect(status, text).toBe(200);
  };
}

/** The statuses of an image without a login, at each of the public paths. */
async function statuses(key: string): Promise<number[]> {
  const answers = PATHS(key).map(path => fetch(`${trace.url}/api/public/${path}`));
  return (await Promise.all(answers)).map(({ status }) => status);
}

test('everyone reads an image while a published label shows it', async () => {
  const { user, companyId } = await tenant(trace, 'Kopanyi');
  const photo = await uploaded(user, 'image');
  const company = { id: companyId };
  const id = await added(user, { name: 'Tea', company, photo: { storageKey: photo } });
  const act = await labelOf(user, id, ['photo']);
  expect(await statuses(photo)).toEqual([404, 404, 404]);
  await act('PUBLISH_LABEL');
  expect(await statuses(photo)).toEqual([200, 200, 200]);
  const answer = await fetch(`${trace.url}/api/public/document/${photo}`);
  expect(answer.headers.get('content-type')).toBe('image/jpeg');
  expect(answer.headers.get('cache-control')).toBe('no-cache');
  const tag = answer.headers.get('etag') as string;
  const again = await fetch(`${trace.url}/api/public/image/${photo}`, { headers: { 'if-none-match': tag } });
  expect(again.status).toBe(304);
  await act('UNPUBLISH_LABEL');
  expect(await statuses(photo)).toEqual([404, 404, 404]);
  const later = await fetch(`${trace.url}/api/public/image/${photo}`, { headers: { 'if-none-match': tag } });
  expect(later.status).toBe(404);
});

test('files that no published label shows stay private: logos, documents of products, and files of others', async () => {
  const { user, companyId } = await tenant(trace, 'Kopanyi');
  const [photo, logo, loose] = [
    await uploaded(user, 'image'),
    await uploaded(user, 'image'),
    await uploaded(user, 'image'),
  ];
  const proof = await uploaded(user, 'document');
  await user.send('PUT', '/api/company/profile', { id: companyId, logo: { storageKey: logo } });
  const id = await added(user, {
    name: 'Tea',
    company: { id: companyId },
    photo: { storageKey: photo },
    settings: { incomeIncreaseDocument: { storageKey: proof } },
  });
  await (await labelOf(user, id, ['photo']))('PUBLISH_LABEL');
  expect(await statuses(photo)).toEqual([200, 200, 200]);
  for (const key of [logo, loose, proof, 'nonsense'])
    expect(await statuses(key), key).toEqual([404, 404, 404]);
  // A login changes nothing, and the other paths still need one.
  for (const path of PATHS(proof)) {
    const { status } = await fetch(`${trace.url}/api/public/${path}`, { headers: { cookie: user.cookie } });
    expect(status, path).toBe(404);
  }
  expect((await downloadFile(trace, nobody, `image/${photo}`)).status).toBe(401);
});

test('the page of a label has its main colour and its picture at the top, and no text in its style', async () => {
  const { user, companyId } = await tenant(trace, 'Kopanyi');
  const storageKey = await uploaded(user, 'image');
  const businessToCustomerSettings = { primaryColor: '#25265E', landingPageImage: { storageKey } };
  const id = await added(user, { name: 'Tea', company: { id: companyId }, businessToCustomerSettings });
  const created = await user.send('POST', '/api/product/label/create', {
    productId: id,
    title: 'Tea',
    fields: labelFields(['description']),
  });
  const label = created.body.data;
  await user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  const url = `${trace.url}/api/public/product/label/${label.uuid}`;
  const page = async () => {
    const answer = await fetch(url, { headers: { accept: 'text/html' } });
    return { html: await answer.text(), policy: answer.headers.get('content-security-policy') ?? '' };
  };
  const { html, policy } = await page();
  const [, style = ''] = /<style>(:root\{--mark:#25265e\}.*)<\/style>/.exec(html) ?? [];
  expect(policy).toContain(`'sha256-${hash('sha256', style, 'base64')}'`);
  const [, source = ''] = /<img src="([^"]*)" alt="Tea">\s*<header>/.exec(html) ?? [];
  expect((await fetch(new URL(source, url))).headers.get('content-type')).toBe('image/jpeg');

  const evil = '#000}</style><script>alert(1)';
  const look = { primaryColor: evil, landingPageImage: '' };
  await user.send('PUT', '/api/product/label/content', {
    labelId: label.id,
    businessToCustomerSettings: look,
  });
  const plain = (await page()).html;
  expect(plain.match(/<style>/g)).toHaveLength(1);
  expect(plain).not.toMatch(/<script|<img/);
});

test('a label shows the chosen documents of the owner, in their order, while the owner has them', async () => {
  const { user, companyId } = await tenant(trace, 'Kopanyi');
  const stranger = await tenant(trace, 'Stranger');
  const documents = [
    { type: 'LINK', category: 'VIDEO', name: 'Film', link: 'https://youtu.be/x' },
    { type: 'LINK', category: 'VIDEO', name: 'Other film', link: 'https://youtu.be/y' },
    { type: 'FILE', category: 'MEET_THE_FARMER', name: 'Joy', quote: 'Welcome' },
    { type: 'FILE', category: 'PRODUCTION_RECORD', name: 'Drying' },
  ];
  const saved = await user.send('PUT', '/api/company/profile', { id: companyId, documents });
  expect(saved.status, saved.text).toBe(200);
  const productId = await added(user, { name: 'Tea' });
  const { data: label } = (await user.send('POST', '/api/product/label/create', { productId })).body;
  const path = `/api/product/label/${label.id}/documents`;
  const all = (await user.send('GET', path)).body.data;
  expect(all).toMatchObject(documents.map(document => ({ ...document, active: false })));

  const [film, other, joy, drying] = all;
  const chosen = [drying, joy, film].map(document => ({ ...document, active: true }));
  expect((await user.send('PUT', path, [...chosen, other])).body).toEqual({ status: 'OK' });
  expect((await user.send('GET', path)).body.data).toEqual([...chosen, other]);
  await user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  const shown = async () => (await trace.send('GET', `/api/public/product/label/${label.uuid}`)).body.data;
  expect(await shown()).toMatchObject({
    videoMeetTheFarmers: { id: film.id, link: 'https://youtu.be/x' },
    photosMeetTheFarmers: [{ id: joy.id, quote: 'Welcome' }],
    productionRecords: [{ id: drying.id, name: 'Drying' }],
  });
  const page = await trace.send('GET', `/api/public/product/label/${label.uuid}`, undefined, {
    accept: 'text/html',
  });
  const link = '<a href="https://youtu.be/x" rel="nofollow noopener">Film</a>';
  expect(page.text).toContain(
    `<dt dir="auto">Documents</dt><dd dir="auto">${link}</dd><dd dir="auto">Joy</dd><dd dir="auto">Drying</dd>`,
  );
  expect(page.text).not.toContain('Other film');
  await user.send('PUT', '/api/company/profile', { id: companyId, documents: [drying] });
  const { videoMeetTheFarmers, photosMeetTheFarmers, productionRecords } = await shown();
  expect([videoMeetTheFarmers, photosMeetTheFarmers]).toEqual([undefined, []]);
  expect(productionRecords).toMatchObject([{ id: drying.id }]);

  for (const [body, field] of [
    [[{ ...film, active: true }], '0.id'],
    [[{ id: 999_999, active: true }], '0.id'],
  ] as const) {
    const refused = await user.send('PUT', path, body as unknown as object);
    expect([refused.status, Object.keys(refused.body.validationErrorDetails.fieldErrors)]).toEqual([
      400,
      [field],
    ]);
  }
  expect((await stranger.user.send('GET', path)).status).toBe(404);
  expect((await stranger.user.send('PUT', path, [])).status).toBe(404);
});

test('a label shows the valid certifications of the owner if it has that field, with their files', async () => {
  const { user, companyId } = await tenant(trace, 'Kopanyi');
  const stranger = await tenant(trace, 'Stranger');
  const upload = async () =>
    (await uploadFile(trace, user, 'document', await picture(9, 9).png().toBuffer())).body.data;
  const [organic, old] = [await upload(), await upload()];
  const certifications = [
    { type: 'EU organic', description: 'Cooperative', validity: '2999-12-31', certificate: organic },
    { type: 'Fair trade', validity: 'as long as we are members' },
    { type: 'Expired', validity: '2020-12-31', certificate: old },
  ];
  const saved = await user.send('PUT', '/api/company/profile', { id: companyId, certifications });
  expect(saved.status, saved.text).toBe(200);
  const productId = await added(user, { name: 'Coffee', company: { id: companyId } });
  const field = { name: 'company.certifications', section: 'company' };
  const body = { productId, title: 'Certified', language: 'DE', fields: [{ ...field, visible: false }] };
  const { data: label } = (await user.send('POST', '/api/product/label/create', body)).body;
  await user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  const path = `/api/public/product/label/${label.uuid}`;
  const shown = async () => (await trace.send('GET', path)).body.data.certifications;
  const page = async () => (await trace.send('GET', path, undefined, { accept: 'text/html' })).text;
  const download = async (key: string) => (await trace.send('GET', `/api/public/document/${key}`)).status;
  expect([await shown(), await download(organic.storageKey)]).toEqual([[], 404]);
  expect(await page()).not.toContain('EU organic');

  await user.send('PUT', '/api/product/label', { id: label.id, fields: [{ ...field, visible: true }] });
  const { type, description, validity } = certifications[0] as Record<string, string>;
  expect(await shown()).toEqual([
    { id: expect.any(Number), type, description, validity, certificate: expect.objectContaining(organic) },
    { id: expect.any(Number), type: 'Fair trade', validity: 'as long as we are members' },
  ]);
  const link = `<a href="../../document/${organic.storageKey}">EU organic, Cooperative, gültig bis 31. Dezember 2999</a>`;
  const plain = 'Fair trade, as long as we are members';
  expect(await page()).toContain(
    `<dt dir="auto">Zertifizierungen</dt><dd dir="auto">${link}</dd><dd dir="auto">${plain}</dd>`,
  );
  expect(await download(organic.storageKey)).toBe(200);
  expect(await download(old.storageKey)).toBe(404);

  await user.send('POST', '/api/product/label/execute/UNPUBLISH_LABEL', { id: label.id });
  expect(await download(organic.storageKey)).toBe(404);
  expect((await downloadFile(trace, stranger.user, `document/${organic.storageKey}`)).status).toBe(404);
});
