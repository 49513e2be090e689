import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { picture, uploadFile } from '../../../../../test/helpers/images.ts';
import { companyForm, labelFields, productForm } from '../../../../../test/helpers/product-forms.ts';
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

const PUBLIC = '/api/public/product/label';
const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);
const upload = async () =>
  (await uploadFile(trace, kopanyi.user, 'image', await picture(9, 9).png().toBuffer())).body.data;
const execute = (action: string, id: number) => send('POST', `/api/product/label/execute/${action}`, { id });
const content = async (id: number) => (await send('GET', `/api/product/label/content/${id}`)).body.data;
const published = async (uuid: string) => {
  const { body } = await trace.send('GET', `${PUBLIC}/${uuid}`);
  // biome-ignore lint/suspicious/noExplicitAny: fields of any value
  const values = Object.fromEntries(body.data.fields.map(({ name, value }: any) => [name, value]));
  return { label: body.data, values };
};

/** A product with a label, as the front end creates them. */
async function labelled(visible: string[]) {
  const photo = await upload();
  const form = productForm(companyForm(kopanyi.companyId), photo.storageKey);
  const productId = await added(kopanyi.user, form);
  const body = {
    productId: String(productId),
    title: 'Spring',
    language: 'EN',
    fields: labelFields(visible),
  };
  const { data: label } = (await send('POST', '/api/product/label/create', body)).body;
  return { form, photo, productId, label };
}

test('a published label shows that its product has changed since, until the label is changed itself', async () => {
  const { productId, label } = await labelled(['name']);
  const { data: draft } = (await send('POST', '/api/product/label/create', { productId })).body;
  const changed = async () => {
    const { body } = await send('GET', `/api/product/${productId}/labels`);
    return body.data.flatMap((label: { id: number; productChanged: boolean }) =>
      label.productChanged ? [label.id] : [],
    );
  };
  const change = async (method: string, path: string, body: object) => {
    const { status, text } = await send(method, `/api/product${path}`, body);
    expect(status, text).toBe(200);
  };
  await execute('PUBLISH_LABEL', label.id);
  expect(await changed()).toEqual([]);
  await change('PUT', '', { id: productId, description: 'From the valley' });
  expect(await changed()).toEqual([label.id]);
  await change('PUT', '/label/content', { labelId: label.id, description: 'From the valley' });
  expect(await changed()).toEqual([]);
  // Changes of other labels, and of parts that labels do not copy, do not matter.
  await change('PUT', '/label', { id: draft.id, title: 'Draft' });
  await change('POST', `/knowledgeBlog/${productId}`, { title: 'Washing' });
  expect(await changed()).toEqual([]);
  await change('PUT', '', { id: productId, name: 'Red Bourbon' });
  expect(await changed()).toEqual([label.id]);
  await execute('UNPUBLISH_LABEL', label.id);
  expect(await changed()).toEqual([]);
});

test('a label copies the product and its owner, changes independently, and shows visible fields', async () => {
  const { form, photo, productId, label } = await labelled(['name', 'photo', 'origin', 'process.production']);
  const before = await content(label.id);
  expect(before).toMatchObject({
    id: label.id,
    labelId: label.id,
    name: 'Kopanyi Washed',
    description: 'Text 0',
    photo: { storageKey: photo.storageKey, name: photo.name },
    settings: { language: 'EN', pricingTransparency: {} },
    company: { id: kopanyi.companyId, name: 'Kopanyi', mediaLinks: {} },
    businessToCustomerSettings: { primaryColor: '#25265E' },
    journeyMarkers: [{ latitude: -1.95 }, { latitude: -6.8 }],
  });

  const sent = {
    ...form,
    id: String(productId),
    labelId: label.id,
    name: 'For consumers',
    process: { production: 'Washed in spring water' },
    company: { ...form.company, manager: 'Ana', mediaLinks: { facebook: 'fb.example/kopanyi' } },
  };
  const changed = await send('PUT', '/api/product/label/content', sent);
  expect([changed.status, changed.body]).toEqual([200, { status: 'OK' }]);
  expect(await content(label.id)).toMatchObject({
    name: 'For consumers',
    company: { manager: 'Ana', mediaLinks: { facebook: 'fb.example/kopanyi' } },
  });
  const product = await read(kopanyi.user, productId);
  expect([product.name, product.process.production]).toEqual(['Kopanyi Washed', 'Text 2']);
  await send('PUT', '/api/product', { id: productId, process: { production: 'Another way' } });

  expect((await trace.send('GET', `${PUBLIC}/${label.uuid}`)).status).toBe(404);
  await execute('PUBLISH_LABEL', label.id);
  const { label: shown, values } = await published(label.uuid);
  expect(shown).toMatchObject({
    id: label.id,
    productId,
    status: 'PUBLISHED',
    uuid: label.uuid,
    title: 'Spring',
    language: 'EN',
    numberOfBatches: 0,
    checkAuthenticityCount: 0,
    traceOriginCount: 0,
    businessToCustomerSettings: { primaryColor: '#25265E', tabFeedback: true },
    product: { name: 'For consumers' },
    photo: `${PUBLIC}/${label.uuid}/photo`,
  });
  expect(Object.keys(values)).toEqual(['name', 'photo', 'origin', 'journeyMarkers', 'process.production']);
  expect(values).toMatchObject({
    name: 'For consumers',
    photo: { storageKey: photo.storageKey },
    origin: { text: 'Text 1', locations: [{ pinName: 'Station A', numberOfFarmers: 12 }] },
    journeyMarkers: [{ latitude: -1.95 }, { latitude: -6.8 }],
    'process.production': 'Washed in spring water',
  });
  expect(shown).not.toHaveProperty('company');
  const page = await trace.send('GET', `${PUBLIC}/${label.uuid}`, undefined, { accept: 'text/html' });
  expect(page.text).toContain('<dd dir="auto">Washed in spring water</dd>');
  expect(page.text).toContain('<dd dir="auto">Text 1</dd>');
  expect(page.text).not.toMatch(/process\.production|\[object|Another way/);
});

test('prices carry their currency, of the product and of the label', async () => {
  const { productId } = await labelled([]);
  const prices = { currency: 'RWF', pricingTransparency: { 'Farm gate, per kg': 800 } };
  await send('PUT', '/api/product', { id: productId, settings: prices });
  expect((await read(kopanyi.user, productId)).settings).toMatchObject(prices);
  const fields = [{ name: 'settings.pricingTransparency', section: 'settings', visible: true }];
  const { body } = await send('POST', '/api/product/label/create', { productId, title: 'Priced', fields });
  await execute('PUBLISH_LABEL', body.data.id);
  const { label: shown, values } = await published(body.data.uuid);
  expect(shown.currency).toBe('RWF');
  expect(values['settings.pricingTransparency']).toEqual({ 'Farm gate, per kg': 800 });
  const wrong = { labelId: body.data.id, settings: { currency: 'QQQ' } };
  expect((await send('PUT', '/api/product/label/content', wrong)).status).toBe(400);
  await send('PUT', '/api/product/label/content', { labelId: body.data.id, settings: { currency: 'UGX' } });
  expect((await published(body.data.uuid)).label.currency).toBe('UGX');
});

test('the page has headings in the language of the label, names of locations, and the logo if it is visible', async () => {
  const { label } = await labelled([
    'description',
    'origin',
    'company.name',
    'company.logo',
    'company.phone',
  ]);
  const { storageKey } = await upload();
  const evil = '"><script>alert(1)</script>';
  const company = { name: evil, phone: '+250 1', logo: { storageKey } };
  await send('PUT', '/api/product/label/content', { labelId: label.id, company });
  await execute('PUBLISH_LABEL', label.id);
  const inLanguage = async (language: string) => {
    await send('PUT', '/api/product/label', { id: label.id, language });
    const { text } = await trace.send('GET', `${PUBLIC}/${label.uuid}`, undefined, { accept: 'text/html' });
    return { text, terms: [...text.matchAll(/<dt dir="auto">(.*?)<\/dt>/g)].map(([, term]) => term) };
  };
  const { text, terms } = await inLanguage('DE');
  expect(terms).toEqual(['Beschreibung', 'Herkunft', 'Reise', 'Telefon']);
  expect((await inLanguage('rw')).terms[1]).toBe('Inkomoko');
  expect((await inLanguage('pt-BR')).terms[1]).toBe('Origin');
  expect(text).toContain(
    '<dt dir="auto">Herkunft</dt><dd dir="auto">Text 1</dd><dd dir="auto">Station A</dd>',
  );
  expect(text).not.toContain('<script');
  const [, source = ''] = /<img class="logo" src="([^"]*)" alt="[^"<>]+">/.exec(text) ?? [];
  const logo = await fetch(new URL(source, `${trace.url}${PUBLIC}/${label.uuid}`));
  expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/png']);

  await send('PUT', '/api/product/label', { id: label.id, fields: labelFields(['company.name']) });
  const hidden = await inLanguage('EN');
  expect(hidden.text).not.toMatch(/class="logo"|<dt dir="auto">(?!Journey)/);
  expect((await fetch(logo.url)).status).toBe(404);
});

test('locations of an origin show their countries in the language of the label; without a name, their position', async () => {
  const { label } = await labelled(['origin']);
  const locations = [
    { pinName: 'Station A', latitude: -1.95, longitude: 30.06, countryCode: 'HN' },
    { latitude: -2.5, longitude: 29.25, countryCode: 'DE' },
    { countryCode: 'RW' },
    { pinName: null, latitude: 3 },
  ];
  await send('PUT', '/api/product/label/content', { labelId: label.id, origin: { locations } });
  await execute('PUBLISH_LABEL', label.id);
  const locationsOf = async (language: string) => {
    await send('PUT', '/api/product/label', { id: label.id, language });
    const { text } = await trace.send('GET', `${PUBLIC}/${label.uuid}`, undefined, { accept: 'text/html' });
    return [...text.matchAll(/<dd dir="auto">(.*?)<\/dd>/g)].map(([, shown]) => shown).slice(1);
  };
  const linked = (country: string) => `<a href="geo:-2.5,29.25">-2.5, 29.25, ${country}</a>`;
  expect(await locationsOf('EN')).toEqual(['Station A, Honduras', linked('Germany'), 'Rwanda']);
  for (const language of ['ES', 'es-a'])
    expect(await locationsOf(language)).toEqual(['Station A, Honduras', linked('Alemania'), 'Ruanda']);
  // The runtime has few names of countries in this language.
  expect(await locationsOf('RW')).toEqual([
    'Station A, Honduras',
    linked('Germany'),
    expect.stringContaining('Rwanda'),
  ]);
});

test('the journey is a list in its order; the web page and the e-mail address of the company are links', async () => {
  const { label } = await labelled(['journeyMarkers', 'company.webPage', 'company.email']);
  const journeyMarkers = [{ pinName: '<Farm>' }, { latitude: 1, longitude: 2 }, { pinName: 'Port' }];
  const company = { webPage: 'kopanyi.example', email: 'info@kopanyi.example' };
  await send('PUT', '/api/product/label/content', { labelId: label.id, journeyMarkers, company });
  await execute('PUBLISH_LABEL', label.id);
  const { text } = await trace.send('GET', `${PUBLIC}/${label.uuid}`, undefined, { accept: 'text/html' });
  const stops = ['&#60;Farm&#62;', '<a href="geo:1,2">1, 2</a>', 'Port'];
  const list = stops.map(stop => `<li dir="auto">${stop}</li>`).join('');
  expect(text).toContain(`<dt dir="auto">Journey</dt><dd><ol>${list}</ol></dd>`);
  expect(text).toContain('<a href="https://kopanyi.example/" rel="nofollow noopener">kopanyi.example</a>');
  expect(text).toContain('<a href="mailto:info@kopanyi.example">info@kopanyi.example</a>');
});

test('locations of an origin are pins on a map in the page, which loads nothing, escapes names, and is cropped around them', async () => {
  const { label } = await labelled(['origin']);
  await execute('PUBLISH_LABEL', label.id);
  const evil = '<b>"Kivu"</b>';
  const mapOf = async (locations: object[], language = 'EN') => {
    await send('PUT', '/api/product/label', { id: label.id, language });
    await send('PUT', '/api/product/label/content', { labelId: label.id, origin: { locations } });
    const page = await trace.send('GET', `${PUBLIC}/${label.uuid}`, undefined, { accept: 'text/html' });
    return /<svg class="map"[\s\S]*<\/svg>/.exec(page.text)?.[0];
  };
  const map = (await mapOf([{ pinName: evil, latitude: -2, longitude: 29.3 }])) as string;
  expect(map).toContain('role="img" aria-label="Map of the origin"');
  expect(map).toContain(
    '<circle cx="300" cy="200" r="7"><title>&#60;b&#62;&#34;Kivu&#34;&#60;/b&#62;</title></circle>',
  );
  expect(map).not.toMatch(/style=|href|url\(/);
  expect(map.length).toBeLessThan(20_000);
  const two = await mapOf(
    [
      { latitude: -2, longitude: 29.3 },
      { latitude: 15, longitude: -86.5 },
    ],
    'DE',
  );
  expect(two).toContain('aria-label="Karte der Herkunft"');
  const positions = [...(two as string).matchAll(/cx="(\d+)" cy="(\d+)"/g)].map(([, x, y]) =>
    [x, y].map(Number),
  );
  expect(positions).toHaveLength(2);
  for (const [x = 0, y = 0] of positions)
    expect([x > 0, x < 600, y > 0, y < 400]).toEqual(Array(4).fill(true));
  expect(await mapOf([{ pinName: 'Somewhere', countryCode: 'RW' }])).toBeUndefined();
});

test('an invisible field is neither in the answer nor are its files public, whatever its own value', async () => {
  const { label, photo } = await labelled(['description']);
  const fields = labelFields(['description']).map(field => ({ ...field, value: 'hidden' }));
  await send('PUT', '/api/product/label', { id: label.id, fields });
  await execute('PUBLISH_LABEL', label.id);
  const { label: shown, values } = await published(label.uuid);
  expect(values).toEqual({ description: 'Text 0', journeyMarkers: expect.any(Array) });
  expect(shown.product).toEqual({ name: 'Spring' });
  for (const path of [`/${label.uuid}/photo`])
    expect((await trace.send('GET', PUBLIC + path)).status).toBe(404);
  expect(JSON.stringify(shown)).not.toMatch(new RegExp(`hidden|Kopanyi|${photo.storageKey}`));
});

test("labels without visibility have their fields' own values", async () => {
  const photo = await upload();
  const productId = await added(kopanyi.user, { name: 'Tea', photo: { storageKey: photo.storageKey } });
  const fields = [{ name: 'name', section: 'x', value: 'A value' }];
  const { data: label } = (await send('POST', '/api/product/label/create', { productId, fields })).body;
  await execute('PUBLISH_LABEL', label.id);
  const { label: shown } = await published(label.uuid);
  expect(shown).toMatchObject({ fields, product: { name: 'Tea' }, company: { name: 'Kopanyi' } });
  expect((await trace.send('GET', shown.photo)).status).toBe(200);
});

test('values are read with their names, and written to the content or the fields', async () => {
  const { label, productId } = await labelled(['name']);
  const values = [
    { name: 'process.production', section: 'process', value: 'Natural' },
    { name: 'company.mediaLinks.youtube', section: 'company', value: 'yt.example' },
    { name: 'Altitude', section: 'Origin', value: 1700 },
  ];
  const body = { id: label.id, title: 'Summer', fields: values };
  expect((await send('PUT', '/api/product/label/values', body)).body).toEqual({ status: 'OK' });
  const { data } = (await send('GET', `/api/product/label/values/${label.id}`)).body;
  expect(data).toMatchObject({ id: label.id, productId, title: 'Summer', status: 'UNPUBLISHED' });
  const byName = new Map(data.fields.map((field: { name: string; value: unknown }) => [field.name, field]));
  expect(byName.get('process.production')).toEqual(values[0]);
  expect(byName.get('Altitude')).toEqual(values[2]);
  expect(await content(label.id)).toMatchObject({
    process: { production: 'Natural' },
    company: { mediaLinks: { youtube: 'yt.example' } },
  });
  const wrong = { id: label.id, fields: [{ name: 'origin.locations', value: 5 }] };
  const refused = await send('PUT', '/api/product/label/values', wrong);
  expect([refused.status, Object.keys(refused.body.validationErrorDetails.fieldErrors)]).toEqual([
    400,
    ['origin.locations'],
  ]);
});

test('only readers of the product read a label, its content and the list of labels; others get 404 as for unknown ids', async () => {
  const { label, productId } = await labelled(['name']);
  const got = await send('GET', `/api/product/label/${label.id}`);
  expect(got.body.data).toEqual({
    ...label,
    businessToCustomerSettings: expect.any(Object),
    url: `${trace.url}${PUBLIC}/${label.uuid}`,
  });
  const base = { id: label.id, productId, status: 'UNPUBLISHED', uuid: label.uuid };
  const listed = await send('GET', `/api/product/${productId}/labels`);
  expect(listed.body.data).toEqual([{ ...base, title: 'Spring', language: 'EN', productChanged: false }]);
  for (const path of ['', 'content/', 'values/']) {
    const foreign = await stranger.user.send('GET', `/api/product/label/${path}${label.id}`);
    const unknown = await stranger.user.send('GET', `/api/product/label/${path}999999`);
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  }
  const change = { labelId: label.id, name: 'Mine' };
  expect((await stranger.user.send('PUT', '/api/product/label/content', change)).status).toBe(404);
  const values = { id: label.id, title: 'Mine' };
  expect((await stranger.user.send('PUT', '/api/product/label/values', values)).status).toBe(404);
  expect((await stranger.user.send('GET', `/api/product/${productId}/labels`)).status).toBe(404);
});

test('a partner reads the content of a label, with only the name of its owner', async () => {
  const roastery = await tenant(trace, 'Roastery');
  const { label, productId } = await labelled(['name', 'company.manager']);
  const partner = { company: { id: roastery.companyId }, type: 'ROASTER' };
  await send('PUT', '/api/product', { id: productId, associatedCompanies: [partner] });
  await send('PUT', '/api/product/label/content', { labelId: label.id, company: { manager: 'Ana' } });
  const answer = await roastery.user.send('GET', `/api/product/label/content/${label.id}`);
  expect(answer.body.data.company).toEqual({ id: kopanyi.companyId, name: 'Kopanyi', mediaLinks: {} });
  const values = await roastery.user.send('GET', `/api/product/label/values/${label.id}`);
  expect([values.status, values.text.includes('"Ana"')]).toEqual([200, false]);
  const change = { labelId: label.id, name: 'Mine' };
  expect((await roastery.user.send('PUT', '/api/product/label/content', change)).status).toBe(403);
});

test('the history of the product has changes of the content, except those without effect', async () => {
  const { label, productId } = await labelled(['name']);
  const change = () => send('PUT', '/api/product/label/content', { labelId: label.id, description: 'Other' });
  await change();
  await change();
  const { body } = await send('GET', `/api/product/${productId}/history?limit=1`);
  expect(body.data.items).toMatchObject([
    { version: 3, path: `labels.${label.id}.content.description`, before: 'Text 0', after: 'Other' },
  ]);
  const { rows } = await trace.pool.query(
    "SELECT action FROM audit WHERE entity = 'product' AND entity_id = $1 ORDER BY id",
    [String(productId)],
  );
  expect(rows.map(({ action }) => action)).toEqual([
    'CREATE_PRODUCT',
    'CREATE_LABEL',
    'UPDATE_LABEL_CONTENT',
  ]);
});

test('a picture of a label stays while the label refers to it, even if the product does not', async () => {
  const { label, productId, photo } = await labelled(['photo']);
  await execute('PUBLISH_LABEL', label.id);
  await send('PUT', '/api/product', { id: productId, photo: '' });
  expect((await trace.send('GET', `${PUBLIC}/${label.uuid}/photo`)).status).toBe(200);
  const unused = async () =>
    (await trace.pool.query('SELECT unused_since FROM images WHERE storage_key = $1', [photo.storageKey]))
      .rows[0].unused_since;
  expect(await unused()).toBeNull();
  const foreign = (await uploadFile(trace, stranger.user, 'image', await picture(9, 9).png().toBuffer()))
    .body;
  const body = { labelId: label.id, photo: { storageKey: foreign.data.storageKey } };
  const refused = await send('PUT', '/api/product/label/content', body);
  expect([refused.status, Object.keys(refused.body.validationErrorDetails.fieldErrors)]).toEqual([
    400,
    ['photo.storageKey'],
  ]);
  await send('DELETE', `/api/product/label/${label.id}`);
  expect(await unused()).not.toBeNull();

  const other = await labelled(['photo']);
  await send('DELETE', `/api/product/${other.productId}`);
  const { rows } = await trace.pool.query('SELECT 1 FROM image_uses WHERE storage_key = $1', [
    other.photo.storageKey,
  ]);
  expect(rows).toEqual([]);
});

test("a field of a label that comes back with its product, without visibility, keeps the label's", async () => {
  const { label, productId } = await labelled(['name']);
  const { labels } = await read(kopanyi.user, productId);
  const withoutVisibility = labels.map((each: { fields: object[] }) => ({
    ...each,
    fields: (each.fields as { name: string; section: string }[]).map(({ name, section }) => ({
      name,
      section,
    })),
  }));
  await send('PUT', '/api/product', { id: productId, labels: withoutVisibility });
  const { data } = (await send('GET', `/api/product/label/${label.id}`)).body;
  expect(data.fields).toEqual(label.fields);
});
