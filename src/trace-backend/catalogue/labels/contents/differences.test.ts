import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { picture, uploadFile } from '../../../../../test/helpers/images.ts';
import { companyForm, labelFields, productForm } from '../../../../../test/helpers/product-forms.ts';
import { type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
});
afterAll(() => trace.stop());

const send = (method: string, path: string, body?: object, tag?: string) =>
  kopanyi.user.send(method, `/api/product${path}`, body, tag === undefined ? {} : { 'if-match': tag });
const upload = async (): Promise<string> =>
  (await uploadFile(trace, kopanyi.user, 'image', await picture(9, 9).png().toBuffer())).body.data.storageKey;
const read = async (id: number) => {
  const { status, text, body, headers } = await send('GET', `/label/${id}/differences`);
  expect(status, text).toBe(200);
  return { ...body.data, tag: headers.get('etag') as string };
};
const content = async (id: number) => (await send('GET', `/label/content/${id}`)).body.data;
const done = async (method: string, path: string, body?: object) => {
  const { status, text } = await send(method, path, body);
  expect(status, text).toBe(200);
};
const take = (id: number, names: string[], tag?: string) =>
  send('POST', `/label/${id}/differences`, { names }, tag);
const listed = async (productId: number) =>
  (await send('GET', `/${productId}/labels`)).body.data.map(
    (each: { productChanged: boolean }) => each.productChanged,
  );

/** A product with all parts, and its published label. */
async function labelled() {
  const form = productForm(companyForm(kopanyi.companyId), await upload());
  const productId = await added(kopanyi.user, form);
  const body = { productId, title: 'Spring', language: 'EN', fields: labelFields(['name']) };
  const id = (await send('POST', '/label/create', body)).body.data.id as number;
  await done('POST', '/label/execute/PUBLISH_LABEL', { id });
  return { form, productId, id };
}

test('differences between a label and its product are listed part by part, with later changes of the product marked', async () => {
  const { productId, id } = await labelled();
  expect(await read(id)).toMatchObject({ productChanged: false, differences: [] });
  // Fields that a front end sends back, and different kinds of empty values, are no differences.
  await done('PUT', '/label/content', { ...(await content(id)), labelId: id });
  await done('PUT', '/label/content', { labelId: id, settings: { costBreakdown: false } });
  expect((await read(id)).differences).toEqual([]);

  await done('PUT', '/label/content', { labelId: id, name: 'For consumers', process: { production: '' } });
  const photo = await upload();
  const change = {
    id: productId,
    description: 'From the valley',
    photo: { storageKey: photo },
    origin: { locations: [{ pinName: 'Station B' }] },
    businessToCustomerSettings: { primaryColor: '#000000' },
  };
  await done('PUT', '', change);
  const { productChanged, differences } = await read(id);
  expect(productChanged).toBe(true);
  expect(differences).toMatchObject([
    { name: 'name', label: 'For consumers', product: 'Kopanyi Washed', isNewer: false },
    { name: 'photo', product: { storageKey: photo, contentType: 'image/png' }, isNewer: true },
    { name: 'description', label: 'Text 0', product: 'From the valley', isNewer: true },
    { name: 'origin.locations', product: [{ pinName: 'Station B' }], isNewer: true },
    { name: 'process.production', product: 'Text 2', isNewer: false },
    {
      name: 'businessToCustomerSettings.primaryColor',
      label: '#25265E',
      product: '#000000',
      isNewer: true,
    },
  ]);
  expect(differences[4]).not.toHaveProperty('label');
  expect(await listed(productId)).toEqual([true]);
  await done('POST', '/label/execute/UNPUBLISH_LABEL', { id });
  expect(await read(id)).toMatchObject({ productChanged: false, differences: { length: 6 } });
});

test('a label takes over named values, also missing ones, and then counts as compared', async () => {
  const { productId, id } = await labelled();
  await done('PUT', '/label/content', { labelId: id, name: 'For consumers', company: { manager: 'Ana' } });
  const photo = await upload();
  await done('PUT', '', {
    id: productId,
    description: '',
    photo: { storageKey: photo },
    journeyMarkers: [],
    process: { production: 'Another way' },
  });
  const { tag, differences } = await read(id);
  expect(differences.map(({ name }: { name: string }) => name)).toEqual([
    ...['name', 'photo', 'description', 'process.production', 'journeyMarkers', 'company.manager'],
  ]);
  const names = ['photo', 'description', 'process.production', 'company.manager'];
  expect((await take(id, names, tag)).body).toEqual({ status: 'OK' });
  const after = await content(id);
  expect(after).toMatchObject({
    name: 'For consumers',
    photo: { storageKey: photo },
    process: { production: 'Another way' },
    journeyMarkers: { length: 2 },
    company: { id: kopanyi.companyId, name: 'Kopanyi' },
  });
  expect([after.description, after.company.manager]).toEqual(['', undefined]);
  const left = await read(id);
  expect(left).toMatchObject({
    productChanged: false,
    differences: [
      { name: 'name', isNewer: false },
      { name: 'journeyMarkers', isNewer: false },
    ],
  });
  expect(await listed(productId)).toEqual([false]);

  const { items } = (await send('GET', `/${productId}/history?limit=3`)).body.data;
  expect(items.map(({ path }: { path: string }) => path)).toContain(`labels.${id}.content.description`);
  const files = await trace.pool.query('SELECT public_files AS files FROM product_labels WHERE id = $1', [
    id,
  ]);
  expect(files.rows[0].files).not.toContain(photo);
  const uses = await trace.pool.query(
    "SELECT 1 FROM image_uses WHERE entity = 'label' AND entity_id = $1 AND storage_key = $2",
    [id, photo],
  );
  expect(uses.rowCount).toBe(1);
});

test('a label that is kept unchanged counts as compared, without a new version, until the product changes again', async () => {
  const { productId, id } = await labelled();
  await done('PUT', '', { id: productId, description: 'From the valley' });
  const version = (await send('GET', `/label/${id}`)).headers.get('etag');
  expect((await take(id, [], (await read(id)).tag)).status).toBe(200);
  expect(await read(id)).toMatchObject({
    productChanged: false,
    differences: [{ name: 'description', label: 'Text 0', isNewer: false }],
  });
  expect(await listed(productId)).toEqual([false]);
  expect((await send('GET', `/label/${id}`)).headers.get('etag')).toBe(version);
  const { rows } = await trace.pool.query(
    "SELECT action, details FROM audit WHERE entity = 'product' AND entity_id = $1 ORDER BY id DESC LIMIT 1",
    [String(productId)],
  );
  expect(rows).toMatchObject([{ action: 'KEEP_LABEL_CONTENT', details: { labelId: id } }]);
  await done('PUT', '', { id: productId, description: 'From the hills' });
  expect(await listed(productId)).toEqual([true]);
  // Only a change of the same text of the label settles it.
  await done('PUT', '/label', { id, title: 'Summer' });
  expect(await listed(productId)).toEqual([true]);
  await done('PUT', '/label/content', { labelId: id, description: 'From our hills' });
  expect(await listed(productId)).toEqual([false]);
});

test('taking over after a change of the label or the product is refused with 412', async () => {
  const { productId, id } = await labelled();
  await done('PUT', '', { id: productId, description: 'From the valley' });
  const changes = [
    () => done('PUT', '', { id: productId, description: 'From the hills' }),
    () => done('PUT', '/label/content', { labelId: id, name: 'For consumers' }),
  ];
  for (const change of changes) {
    const { tag } = await read(id);
    await change();
    const refused = await take(id, ['description'], tag);
    expect([refused.status, refused.body.status]).toEqual([412, 'INVALID_REQUEST']);
  }
  expect((await content(id)).description).toBe('Text 0');
  const { tag } = await read(id);
  const statuses = await Promise.all(
    [1, 2, 3].map(async () => (await take(id, ['description'], tag)).status),
  );
  expect(statuses.sort()).toEqual([200, 412, 412]);
});

test('unknown names are refused with their fields, and names without a difference change nothing', async () => {
  const { productId, id } = await labelled();
  await done('PUT', '', { id: productId, origin: { village: 'Kivu' } });
  expect((await read(id)).differences).toMatchObject([{ name: 'origin.village', product: 'Kivu' }]);
  for (const wrong of ['origin', 'nothing', 'company.id', 'origin.nothing', 'labels', 'origin.constructor']) {
    const { status, body } = await take(id, ['description', wrong]);
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)], wrong).toEqual([400, ['names.1']]);
  }
  const before = (await send('GET', `/label/${id}`)).headers.get('etag');
  expect((await take(id, ['description', 'company.interview'])).status).toBe(200);
  expect((await send('GET', `/label/${id}`)).headers.get('etag')).toBe(before);
  expect((await take(id, ['origin.village'])).status).toBe(200);
  expect(await read(id)).toMatchObject({ productChanged: false, differences: [] });
});

test('changes of the owner differ without being newer, and another owner is newer', async () => {
  const { productId, id } = await labelled();
  const profile = { id: kopanyi.companyId, phone: '+250 7' };
  expect((await kopanyi.user.send('PUT', '/api/company/profile', profile)).status).toBe(200);
  expect(await read(id)).toMatchObject({
    productChanged: false,
    differences: [{ name: 'company.phone', product: '+250 7', isNewer: false }],
  });
  const { rows } = await trace.pool.query(
    `INSERT INTO companies (status, name, folded, tokens, created_by, created_at)
     VALUES ('ACTIVE', 'Second', 'second', '{}', $1, now()) RETURNING id`,
    [kopanyi.user.id],
  );
  await trace.pool.query(
    "INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, 'COMPANY_ADMIN')",
    [rows[0].id, kopanyi.user.id],
  );
  await done('PUT', '', { id: productId, company: { id: rows[0].id } });
  expect(await read(id)).toMatchObject({
    productChanged: true,
    differences: [{ name: 'company.name', label: 'Kopanyi', product: 'Second', isNewer: true }],
  });
  await take(id, ['company.name']);
  expect((await content(id)).company).toMatchObject({ id: rows[0].id, name: 'Second' });
});

test("a partner sees differences, except those of the owner's profile, and cannot take values over", async () => {
  const { productId, id } = await labelled();
  const roastery = await tenant(trace, 'Roastery');
  const partner = { company: { id: roastery.companyId }, type: 'ROASTER' };
  await done('PUT', '', { id: productId, associatedCompanies: [partner], description: 'From the valley' });
  const profile = { id: kopanyi.companyId, phone: '+250 8' };
  await kopanyi.user.send('PUT', '/api/company/profile', profile);
  const path = `/api/product/label/${id}/differences`;
  const seen = await roastery.user.send('GET', path);
  expect(seen.body.data.differences).toMatchObject([{ name: 'description' }]);
  expect(seen.text).not.toContain('+250');
  expect((await roastery.user.send('POST', path, { names: [] })).status).toBe(403);
});

test('a label without a copy has no differences, and copies the product as it is then', async () => {
  const productId = await added(kopanyi.user, { name: 'Tea', labels: { title: 'Tea' } });
  const [{ id }] = (await send('GET', `/${productId}/labels`)).body.data;
  await done('PUT', '', { id: productId, description: 'Green' });
  expect(await read(id)).toMatchObject({ productChanged: false, differences: [] });
  expect((await take(id, [])).status).toBe(200);
  await done('PUT', '', { id: productId, description: 'Black' });
  expect((await read(id)).differences).toMatchObject([{ label: 'Green', product: 'Black', isNewer: true }]);
});
