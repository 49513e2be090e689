import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
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
