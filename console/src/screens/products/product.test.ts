import { expect, test } from 'vitest';
import { bodyOf, formOf, ONLY_USER } from './product.ts';

test('only what has changed is sent, and a pin keeps the fields that the form does not show', () => {
  const product = {
    name: 'Washed',
    origin: { text: 'Hills', locations: [{ latitude: -1.95, longitude: 30.06, geoid: 'ab', pinName: 'A' }] },
    photo: { id: 1, storageKey: 'key', name: 'a.jpg' },
    settings: { pricingTransparency: { farmer: 4.2 }, costBreakdown: true },
    valueChain: { id: 3, name: 'Coffee' },
    company: { id: 9, name: 'Kopanyi' },
    associatedCompanies: [
      { company: { id: 9, name: 'Kopanyi' }, type: 'OWNER' },
      { company: { id: 8, name: 'Roastery' }, type: 'ROASTER' },
    ],
    dataSharingAgreements: [{ id: 2, description: 'All', document: { id: 4, storageKey: 'pdf' } }],
  };
  expect(bodyOf(formOf(product), formOf(product))).toEqual({});
  const form = formOf(product);
  Object.assign(form.values, { name: 'Natural', 'valueChain.id': '', 'origin.text': '' });
  form.photo = undefined;
  (form.pins[0] as { latitude: string }).latitude = '-2';
  form.prices = [...form.prices, { name: 'roaster', value: '9.5' }];
  form.partners = [];
  expect(bodyOf(form, formOf(product))).toEqual({
    name: 'Natural',
    valueChain: '',
    photo: '',
    origin: {
      text: '',
      locations: [{ latitude: '-2', longitude: '30.06', geoid: 'ab', pinName: 'A' }],
    },
    settings: { pricingTransparency: { farmer: '4.2', roaster: '9.5' } },
    associatedCompanies: [],
  });
});

test('a new product has only what is filled in, and an owner if one is chosen', () => {
  const form = formOf();
  form.values.name = 'Washed';
  form.owner = '9';
  expect(bodyOf({ ...form, owner: ONLY_USER })).toEqual({ name: 'Washed' });
  form.agreements = [{ description: 'All', document: { storageKey: 'pdf' } }];
  expect(bodyOf(form)).toEqual({
    name: 'Washed',
    company: { id: '9' },
    dataSharingAgreements: [{ description: 'All', document: { storageKey: 'pdf' } }],
  });
});
