import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { picture, uploadFile } from '../../../../test/helpers/images.ts';
import { companyForm, productForm } from '../../../../test/helpers/product-forms.ts';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let roastery: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  roastery = await tenant(trace, 'Roastery');
});
afterAll(() => trace.stop());

const upload = async (kind: 'image' | 'document' = 'image') =>
  (await uploadFile(trace, kopanyi.user, kind, await picture(9, 9).png().toBuffer())).body.data;
const update = (id: number, body: object) => kopanyi.user.send('PUT', '/api/product/', { id, ...body });

test("the front end's form of a product is stored, and empty prices are absent", async () => {
  const photo = await upload();
  const form = productForm(companyForm(kopanyi.companyId), photo.storageKey);
  const id = await added(kopanyi.user, form);
  const product = await read(kopanyi.user, id);
  const settings = Object.entries(form.businessToCustomerSettings);
  const sent = Object.fromEntries(settings.filter(([, value]) => value !== null));
  expect(product).toMatchObject({
    businessToCustomerSettings: sent,
    settings: { language: 'EN', pricingTransparency: {} },
    journeyMarkers: [
      { latitude: -1.95, longitude: 30.06 },
      { latitude: -6.8, longitude: 39.28 },
    ],
    origin: { locations: [{ numberOfFarmers: 12 }] },
    dataSharingAgreements: [],
    photo: { storageKey: photo.storageKey, name: photo.name },
  });
  expect(product.businessToCustomerSettings).toEqual(sent);
  expect(product.company).toMatchObject({ id: kopanyi.companyId, name: 'Kopanyi', status: 'ACTIVE' });
  expect(product.company).not.toHaveProperty('users');

  const { body } = await kopanyi.user.send('GET', '/api/product/list?name=kopanyi%20washed');
  expect(body.data.items).toMatchObject([{ id, name: 'Kopanyi Washed', photoStorageId: photo.storageKey }]);
});

test('an empty product has the parts that the front end needs, and can be sent back unchanged', async () => {
  const id = await added(kopanyi.user, { name: 'Tea' });
  const product = await read(kopanyi.user, id);
  expect(product).toMatchObject({
    origin: {},
    settings: { pricingTransparency: {} },
    businessToCustomerSettings: {},
  });
  expect((await update(id, product)).status).toBe(200);
  const answer = await kopanyi.user.send('GET', `/api/product/${id}`);
  expect([answer.headers.get('etag'), answer.body.data]).toEqual(['"1"', product]);
});

test('fonts, pictures and agreements are documents of the product; agreements keep their ids', async () => {
  const [font, agreement] = [await upload('document'), await upload('document')];
  const id = await added(kopanyi.user, {
    name: 'Tea',
    associatedCompanies: [{ company: { id: roastery.companyId }, type: 'ROASTER' }],
    businessToCustomerSettings: { id: 5, textFont: { storageKey: font.storageKey } },
    dataSharingAgreements: [
      { description: 'With the roaster', document: { storageKey: agreement.storageKey } },
      { description: 'Another' },
    ],
  });
  const product = await read(kopanyi.user, id);
  expect(product.businessToCustomerSettings).toEqual({
    textFont: { ...font, contentType: font.contentType },
  });
  expect(product.dataSharingAgreements).toEqual([
    { id: 1, description: 'With the roaster', document: agreement },
    { id: 2, description: 'Another' },
  ]);
  const path = `/api/common/document/${agreement.storageKey}`;
  expect((await roastery.user.send('GET', path)).status).toBe(200);

  const [, second] = product.dataSharingAgreements;
  await update(id, { dataSharingAgreements: [{ description: 'First' }, second, { id: 2 }] });
  const after = await read(kopanyi.user, id);
  expect(after.dataSharingAgreements).toEqual([
    { id: 3, description: 'First' },
    { id: 2, description: 'Another' },
    { id: 4 },
  ]);
  expect((await roastery.user.send('GET', path)).status).toBe(404);
  const unknown = { dataSharingAgreements: [{ document: { storageKey: 'x' } }] };
  const refused = await update(id, unknown);
  expect([refused.status, refused.body.validationErrorDetails.fieldErrors]).toEqual([
    400,
    { 'dataSharingAgreements.0.document.storageKey': expect.any(String) },
  ]);
});

test('users who may see the company read the whole owner; partners read only its name', async () => {
  const id = await added(kopanyi.user, {
    name: 'Tea',
    associatedCompanies: [{ company: { id: roastery.companyId }, type: 'ROASTER' }],
  });
  await kopanyi.user.send('PUT', '/api/company/profile', { id: kopanyi.companyId, about: 'A secret' });
  expect((await read(kopanyi.user, id)).company).toMatchObject({ about: 'A secret' });
  expect((await read(roastery.user, id)).company).toEqual({ id: kopanyi.companyId, name: 'Kopanyi' });
});

test('wrong values of the new fields are refused with their path', async () => {
  const wrong: [object, string][] = [
    [{ businessToCustomerSettings: { graphicFarmGatePrice: 'PER_TON' } }, 'graphicFarmGatePrice'],
    [{ businessToCustomerSettings: { tabQuality: 1 } }, 'tabQuality'],
    [{ businessToCustomerSettings: { primaryColor: 'x'.repeat(51) } }, 'primaryColor'],
  ];
  for (const [body, field] of wrong) {
    const answer = await update(1, body);
    expect(Object.keys(answer.body.validationErrorDetails.fieldErrors), answer.text).toEqual([
      `businessToCustomerSettings.${field}`,
    ]);
  }
  const marker = await update(1, { journeyMarkers: [{ latitude: 91, longitude: 0 }] });
  expect(Object.keys(marker.body.validationErrorDetails.fieldErrors)).toEqual(['journeyMarkers.0.latitude']);
});
