import { expect, test } from 'vitest';
import { bodyOf, formOf, headingColour } from './consumer.ts';

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
  Object.assign(form.values, { primaryColor: '', tabFeedback: true });
  form.files = { landingPageImage: undefined };
  expect(bodyOf(form, formOf(settings))).toEqual({
    primaryColor: '',
    tabFeedback: true,
    landingPageImage: '',
  });
  // What only other apps show is not in the form, so that it stays.
  expect(Object.keys(form.values)).toEqual(['primaryColor', 'tabFeedback']);
});

test('headings have the main colour if it is written as the page of a label takes it', () => {
  expect(headingColour(formOf(settings))).toBe('#25265E');
  expect(headingColour(formOf({ primaryColor: ' #070 ' }))).toBe('#070');
  for (const primaryColor of ['red', '#12', 'rgb(0 0 0)', ''])
    expect(headingColour(formOf({ primaryColor }))).toBeUndefined();
  expect(headingColour(formOf())).toBeUndefined();
});
