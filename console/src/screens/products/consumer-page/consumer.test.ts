import { expect, test } from 'vitest';
import { bodyOf, formOf, shownTabs } from './consumer.ts';

const settings = {
  id: 3,
  primaryColor: '#25265E',
  tabQuality: true,
  orderQuality: 2,
  tabProducers: true,
  orderProducers: 0,
  tabFeedback: false,
  fairTrade: 2.5,
  landingPageImage: { id: 1, storageKey: 'key', name: 'a.jpg' },
};

test('only what has changed is sent, and what is emptied is cleared', () => {
  const form = formOf(settings);
  expect(bodyOf(form, formOf(settings))).toEqual({});
  Object.assign(form.values, { primaryColor: '', fairTrade: '3', tabFeedback: true });
  form.files = { ...form.files, landingPageImage: undefined, textFont: { storageKey: 'font' } };
  expect(bodyOf(form, formOf(settings))).toEqual({
    primaryColor: '',
    fairTrade: '3',
    tabFeedback: true,
    landingPageImage: '',
    textFont: { storageKey: 'font' },
  });
});

test('the tabs are those that are shown, by their places; those without a place are the last', () => {
  expect(shownTabs(formOf(settings))).toEqual(['Producers', 'Quality']);
  expect(shownTabs(formOf({ ...settings, tabFairPrices: true }))).toEqual([
    'Producers',
    'Quality',
    'FairPrices',
  ]);
  expect(shownTabs(formOf())).toEqual([]);
});
