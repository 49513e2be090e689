import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { downloadFile, picture, uploadFile } from '../../../../../test/helpers/images.ts';
import { type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  stranger = await tenant(trace, 'Stranger');
});
afterAll(() => trace.stop());

const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);

test('a label shows those documents of the owner that are chosen, in their order, while the owner has them', async () => {
  const documents = [
    { type: 'LINK', category: 'VIDEO', name: 'Film', link: 'https://youtu.be/x' },
    { type: 'LINK', category: 'VIDEO', name: 'Other film', link: 'https://youtu.be/y' },
    { type: 'FILE', category: 'MEET_THE_FARMER', name: 'Joy', quote: 'Welcome' },
    { type: 'FILE', category: 'PRODUCTION_RECORD', name: 'Drying' },
  ];
  const saved = await send('PUT', '/api/company/profile', { id: kopanyi.companyId, documents });
  expect(saved.status, saved.text).toBe(200);
  const productId = await added(kopanyi.user, { name: 'Tea' });
  const { data: label } = (await send('POST', '/api/product/label/create', { productId })).body;
  const path = `/api/product/label/${label.id}/documents`;
  const all = (await send('GET', path)).body.data;
  expect(all).toMatchObject(documents.map(document => ({ ...document, active: false })));

  const [film, other, joy, drying] = all;
  const chosen = [drying, joy, film].map(document => ({ ...document, active: true }));
  expect((await send('PUT', path, [...chosen, other])).body).toEqual({ status: 'OK' });
  expect((await send('GET', path)).body.data).toEqual([...chosen, other]);
  await send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
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
  await send('PUT', '/api/company/profile', { id: kopanyi.companyId, documents: [drying] });
  const { videoMeetTheFarmers, photosMeetTheFarmers, productionRecords } = await shown();
  expect([videoMeetTheFarmers, photosMeetTheFarmers]).toEqual([undefined, []]);
  expect(productionRecords).toMatchObject([{ id: drying.id }]);

  for (const [body, field] of [
    [[{ ...film, active: true }], '0.id'],
    [[{ id: 999_999, active: true }], '0.id'],
  ] as const) {
    const refused = await send('PUT', path, body as unknown as object);
    expect([refused.status, Object.keys(refused.body.validationErrorDetails.fieldErrors)]).toEqual([
      400,
      [field],
    ]);
  }
  expect((await stranger.user.send('GET', path)).status).toBe(404);
  expect((await stranger.user.send('PUT', path, [])).status).toBe(404);
});

test('a label shows the valid certifications of the owner if it has that field, with their files', async () => {
  const upload = async () =>
    (await uploadFile(trace, kopanyi.user, 'document', await picture(9, 9).png().toBuffer())).body.data;
  const [organic, old] = [await upload(), await upload()];
  const certifications = [
    { type: 'EU organic', description: 'Cooperative', validity: '2999-12-31', certificate: organic },
    { type: 'Fair trade', validity: 'as long as we are members' },
    { type: 'Expired', validity: '2020-12-31', certificate: old },
  ];
  const saved = await send('PUT', '/api/company/profile', { id: kopanyi.companyId, certifications });
  expect(saved.status, saved.text).toBe(200);
  const productId = await added(kopanyi.user, { name: 'Coffee', company: { id: kopanyi.companyId } });
  const field = { name: 'company.certifications', section: 'company' };
  const body = { productId, title: 'Certified', language: 'DE', fields: [{ ...field, visible: false }] };
  const { data: label } = (await send('POST', '/api/product/label/create', body)).body;
  await send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  const path = `/api/public/product/label/${label.uuid}`;
  const shown = async () => (await trace.send('GET', path)).body.data.certifications;
  const page = async () => (await trace.send('GET', path, undefined, { accept: 'text/html' })).text;
  const download = async (key: string) => (await trace.send('GET', `/api/public/document/${key}`)).status;
  expect([await shown(), await download(organic.storageKey)]).toEqual([[], 404]);
  expect(await page()).not.toContain('EU organic');

  await send('PUT', '/api/product/label', { id: label.id, fields: [{ ...field, visible: true }] });
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

  await send('POST', '/api/product/label/execute/UNPUBLISH_LABEL', { id: label.id });
  expect(await download(organic.storageKey)).toBe(404);
  expect((await downloadFile(trace, stranger.user, `document/${organic.storageKey}`)).status).toBe(404);
});
