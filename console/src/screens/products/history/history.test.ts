import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Step, shownOf, stepsTo } from './history.ts';

const english = (area: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`../../../messages/en/${area}.json`, import.meta.url), 'utf8'));

/** As the screen joins them. */
const said = (steps: readonly Step[]) =>
  steps
    .map(({ key = '', which }) => {
      const [area = ''] = key.split('.', 1);
      const name = key === '' ? undefined : (english(area)[key.slice(area.length + 1)] ?? `?${key}`);
      return [name, which].filter(Boolean).join(' ');
    })
    .join(' · ');

test('paths are said in the words of the forms, with the place or the id', () => {
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
    'labels.7.content.process.production': 'Label 7 · Its own texts · How it is produced',
    'labels.7.batches.4.number': 'Label 7 · Batches 4 · Number of the batch',
    'finalProducts.3.name': 'Final products 3 · Name',
    'knowledgeBlogs.3.title': 'Knowledge blog 3 · Title',
    'process.somethingElse': 'What it is like · somethingElse',
    'origin.more.deep': 'Origin · more.deep',
    constructor: 'constructor',
  };
  expect(Object.fromEntries(Object.keys(paths).map(path => [path, said(stepsTo(path))]))).toEqual(paths);
});

test('a value is a word where it is one; lists and records are counted', () => {
  expect(['Tea', 4.2, 0].map(shownOf)).toEqual([{ text: 'Tea' }, { text: '4.2' }, { text: '0' }]);
  expect([undefined, null, ''].map(shownOf)).toEqual([undefined, undefined, undefined]);
  expect(shownOf(false)).toEqual({ isSet: false });
  expect(shownOf({ storageKey: 'k', name: 'field.jpg' })).toEqual({ text: 'field.jpg' });
  expect(shownOf({ id: 7 })).toEqual({ text: '7' });
  expect([shownOf([1, 2]), shownOf({ farmer: 1, mill: 2, port: 3 })]).toEqual([{ count: 2 }, { count: 3 }]);
});
