import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeChange, fileOf, meaningOf, partsOf, type Step, stepsTo } from './history.ts';

const english = (area: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`../../../../../messages/en/${area}.json`, import.meta.url), 'utf8'));

/** As the screen joins them. */
const nameOf = (steps: readonly Step[]) =>
  steps
    .map(({ key = '', which }) => {
      const [area = ''] = key.split('.', 1);
      const name = key === '' ? undefined : (english(area)[key.slice(area.length + 1)] ?? `?${key}`);
      return [name, which].filter(Boolean).join(' ');
    })
    .join(' · ');

test('paths have the words of the forms, with the position or the id', () => {
  const paths = {
    name: 'Name',
    'settings.gdprText': 'Text about data protection',
    'origin.locations': 'Places of origin',
    'origin.locations.0.latitude': 'Places of origin 1 · Latitude',
    'journeyMarkers.2.longitude': 'Journey 3 · Longitude',
    'associatedCompanies.1.type': 'Other companies 2 · Relation',
    'settings.pricingTransparency.farm.gate': 'Prices along the chain · farm.gate',
    'businessToCustomerSettings.primaryColor': 'Consumer page · Main colour',
    'businessToCustomerSettings.orderQuality': 'Consumer page · Tabs',
    'labels.7': 'Label 7',
    'labels.7.status': 'Label 7 · Status',
    'labels.7.content.process.production': 'Label 7 · Texts · How it is produced',
    'labels.7.batches.4.number': 'Label 7 · Batches 4 · Batch number',
    'labels.7.batches.4.locations.0.pinName': 'Label 7 · Batches 4 · Places of origin 1 · Name of the place',
    'labels.7.content.company.webPage': 'Label 7 · Texts · Owner · Web page',
    'labels.7.content.company.logo.storageKey': 'Label 7 · Texts · Owner · Logo',
    'photo.storageKey': 'Photo',
    'finalProducts.3.name': 'Final products 3 · Name',
    'finalProducts.3.labelIds.0': 'Final products 3 · Labels it carries · 1',
    'knowledgeBlogs.3.title': 'Knowledge blog 3 · Title',
    'process.somethingElse': 'Product story · somethingElse',
    'origin.more.deep': 'Origin · more.deep',
    constructor: 'constructor',
  };
  expect(Object.fromEntries(Object.keys(paths).map(path => [path, nameOf(stepsTo(path))]))).toEqual(paths);
});

test('records with names are marked, so that the names can be shown', () => {
  expect(stepsTo('labels.7.status')[0]).toEqual({ key: 'labels.label', which: '7', record: 'label' });
  const records = ['labels.7.batches.4', 'finalProducts.3.name', 'knowledgeBlogs.3'].map(path =>
    stepsTo(path).flatMap(({ record }) => record ?? []),
  );
  expect(records).toEqual([['label', 'batch'], ['final-product'], ['knowledge-blog']]);
});

test('values mean names, words, dates and countries where their fields do', () => {
  expect(
    ['company', 'associatedCompanies.1.company', 'valueChain', 'finalProducts.3.unitId'].map(meaningOf),
  ).toEqual([
    { record: 'company' },
    { record: 'company' },
    { record: 'value-chain' },
    { record: 'measure-unit-type' },
  ]);
  expect(meaningOf('finalProducts.3.labelIds.0')).toEqual({ record: 'label' });
  const wordOf = (path: string, text: string) =>
    (meaningOf(path) as { word: (text: string) => string }).word(text);
  expect(wordOf('associatedCompanies.1.type', 'BUYER')).toBe('products.relation.BUYER');
  expect(wordOf('businessToCustomerSettings.graphicFarmGatePrice', 'PER_KG')).toBe('consumer.unit.PER_KG');
  expect(meaningOf('origin.locations.0.countryCode')).toBe('country');
  expect(meaningOf('labels.1.batches.2.expiryDate')).toBe('date');
  expect(meaningOf('labels.1.documents.0')).toEqual({ record: 'label-document', within: '1' });
  expect(meaningOf('labels.1.language')).toBe('language');
  expect(meaningOf('settings.language')).toBe('language');
  expect(meaningOf('photo.storageKey')).toBe('file');
  for (const path of ['name', 'origin.locations.0.latitude', '', 'constructor'])
    expect(meaningOf(path)).toBeUndefined();
});

test('a value is split into parts with words; files and references stay whole', () => {
  expect(partsOf('name', 'Tea')).toEqual([{ path: 'name', value: 'Tea' }]);
  expect(partsOf('name', null)).toEqual([]);
  const origin = { text: '', locations: [{ latitude: 0, address: 'Huye' }] };
  expect(partsOf('origin', origin)).toEqual([
    { path: 'origin.locations.0.latitude', value: 0 },
    { path: 'origin.locations.0.address', value: 'Huye' },
  ]);
  expect(partsOf('photo', { storageKey: 'k', name: 'field.jpg' })).toEqual([
    { path: 'photo', value: 'field.jpg' },
  ]);
  const unnamed = { path: 'photo', value: 'key', isFile: true };
  expect(partsOf('photo', { storageKey: 'key' })).toEqual([unnamed]);
  expect(partsOf('finalProducts.1', { productId: 1, name: 'Bag' })).toEqual([
    { path: 'finalProducts.1.name', value: 'Bag' },
  ]);
  expect(partsOf('company', { id: 7 })).toEqual([{ path: 'company', value: '7' }]);
  const fields = [
    { name: 'photo', visible: false },
    { name: 'name', visible: true },
  ];
  expect(partsOf('labels.7', { id: 7, uuid: 'u', title: 'Spring', fields })).toEqual([
    { path: 'labels.7.title', value: 'Spring' },
    { path: 'labels.7.fields', value: 'name' },
  ]);
});

test('a file is a picture where forms show one, and otherwise a document', () => {
  const picture = { key: 'k', isPicture: true };
  expect(fileOf('photo', { storageKey: 'k', name: 'field.jpg' })).toEqual(picture);
  expect(fileOf('labels.7.content.company.logo.storageKey', 'k')).toEqual(picture);
  expect(fileOf('settings.incomeIncreaseDocument.storageKey', 'k')).toEqual({ key: 'k', isPicture: false });
  expect(['Tea', null, undefined].map(value => fileOf('photo.storageKey.name', value))).toEqual(
    Array(3).fill(undefined),
  );
});

test('a change says what was done, with old and new values; of lists, only added and removed entries', () => {
  const described = (path: string, before?: unknown, after?: unknown) =>
    describeChange({ path, before, after });
  expect(described('').did).toBe('created');
  expect(described('knowledgeBlog', undefined, false)).toMatchObject({
    did: 'filled',
    after: [{ value: false }],
  });
  expect(described('labels.7', undefined, { title: 'Spring' }).did).toBe('added');
  expect(described('description', 'From the hills', null)).toMatchObject({ did: 'removed', after: [] });
  expect(described('name', 'Tea', 'Green tea')).toMatchObject({ did: 'changed', isReplaced: true });
  const [farm, mill] = [{ company: { id: 1 } }, { company: { id: 2 } }];
  expect(described('associatedCompanies', [farm], [mill, farm])).toEqual({
    did: 'changed',
    before: [],
    isReplaced: false,
    after: [{ path: 'associatedCompanies.0.company', value: '2' }],
  });
  expect(described('journeyMarkers', undefined, [{ latitude: 1 }])).toMatchObject({
    did: 'changed',
    before: [],
    after: [{ path: 'journeyMarkers.0.latitude' }],
  });
});
