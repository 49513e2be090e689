import { expect, test } from 'vitest';
import { fieldsLabelsShow } from '../../../../src/trace-backend/catalogue/companies/record/fields.ts';
import { KNOWN_FIELDS } from '../../../../src/trace-backend/catalogue/products/record/parts.ts';
import { contentOf, fieldsOf, formOf, opensOnlyHere, previewOf, SHOWN } from './label.ts';

const FIELDS = [
  { name: 'name', section: 'product', visible: true },
  { name: 'origin', section: 'product', visible: true },
  { name: 'own', section: 'x', value: 'Extra' },
];
const CONTENT = {
  name: 'Washed',
  description: 'Hidden',
  photo: { storageKey: 'photo' },
  origin: { text: 'Hills', locations: [{ pinName: 'Station A' }, { latitude: 1 }] },
};

test('the form offers every field that the service shows with a heading', () => {
  const parts = ['process', 'responsibility', 'sustainability'].flatMap(part =>
    (KNOWN_FIELDS.get(part) ?? []).map(name => `${part}.${name}`),
  );
  const ofOwner = fieldsLabelsShow().map(name => `company.${name}`);
  expect(parts.length).toBeGreaterThan(4);
  expect(SHOWN.filter(name => /^(process|responsibility|sustainability)\./.test(name))).toEqual(parts);
  expect(SHOWN.filter(name => /^company\.(?!name|certifications)/.test(name)).sort()).toEqual(ofOwner.sort());
});

test('a form changes which parts are shown, and keeps fields that it does not know', () => {
  const form = formOf({ title: 'Spring', fields: FIELDS }, CONTENT);
  expect(form).toMatchObject({ title: 'Spring', language: 'EN', visible: { name: true, photo: false } });
  form.visible.photo = true;
  const fields = fieldsOf(form, FIELDS);
  expect(fields.filter(({ visible }) => visible).map(({ name }) => name)).toEqual([
    'name',
    'photo',
    'origin',
  ]);
  expect(fields.at(-1)).toEqual(FIELDS[2]);
  expect(contentOf(form, CONTENT)).toEqual({});
  form.texts['company.name'] = 'Kopanyi';
  expect(contentOf(form, CONTENT)).toEqual({ company: { name: 'Kopanyi' } });
});

test('the preview has what the page shows, and nothing else', () => {
  const form = formOf({ title: 'Spring', fields: FIELDS }, CONTENT);
  expect(previewOf(form, CONTENT)).toEqual({
    heading: 'Spring',
    by: 'Washed',
    photo: undefined,
    logo: undefined,
    parts: [{ name: 'origin', texts: ['Hills', 'Station A'] }],
    pins: [],
  });
  const locations = [
    { pinName: 'Station A', countryCode: 'HN', latitude: 14, longitude: -87 },
    { latitude: -2.5, longitude: 29.25, countryCode: 'DE' },
    { latitude: 3 },
  ];
  const inSpanish = { ...form, language: 'es-a' };
  const { parts, pins } = previewOf(inSpanish, { ...CONTENT, origin: { locations } });
  expect(parts[0]?.texts).toEqual(['Hills', 'Station A, Honduras', '-2.5, 29.25, Alemania']);
  expect(pins).toEqual([
    { latitude: 14, longitude: -87, name: 'Station A' },
    { latitude: -2.5, longitude: 29.25, name: '-2.5, 29.25' },
  ]);
  const journeyMarkers = [{ pinName: 'Farm' }, { latitude: 1, longitude: 2 }];
  const travelled = { ...form, visible: { ...form.visible, origin: false, journeyMarkers: true } };
  const documents = [
    { category: 'PRODUCTION_RECORD', document: { name: 'washing.pdf' }, active: true },
    { category: 'VIDEO', name: 'Film', link: 'https://video.example', active: true },
    { category: 'VIDEO', name: 'Without an address', active: true },
    { category: 'MEET_THE_FARMER', name: 'Joy', active: false },
  ];
  const certifications = [
    { type: 'Organic', description: 'EU', validity: '2999-12-31' },
    { type: 'Expired', validity: '2020-12-31' },
    { certificate: { name: 'rainforest.pdf' }, validity: 'without end' },
  ];
  const ofOwner = { documents, certifications, until: 'valid until' };
  expect(previewOf(travelled, { journeyMarkers }, ofOwner).parts).toEqual([
    { name: 'journeyMarkers', texts: ['Farm', '1, 2'] },
    { name: 'documents', texts: ['Film', 'washing.pdf'] },
  ]);
  const certified = { ...travelled, visible: { 'company.certifications': true } };
  expect(previewOf(certified, {}, ofOwner).parts.at(-1)).toEqual({
    name: 'company.certifications',
    texts: ['Organic, EU, valid until December 31, 2999', 'rainforest.pdf, without end'],
  });
  const hidden = { ...form, visible: { ...form.visible, name: false, origin: false, 'company.name': true } };
  hidden.texts['company.name'] = 'Kopanyi';
  expect(previewOf(hidden, { origin: { locations } })).toMatchObject({ by: 'Kopanyi', parts: [], pins: [] });
});

test('an address that only the computer itself can open is known by its host', () => {
  for (const host of [
    '127.0.0.1:8080',
    '127.1.2.3',
    'localhost',
    'A.LOCALHOST:1',
    '[::1]:80',
    '0.0.0.0',
    '[::]',
  ])
    expect(opensOnlyHere(`http://${host}/label`), host).toBe(true);
  for (const host of [
    'labels.example.org',
    '192.168.1.5',
    '127.0.0.1.example',
    'localhost.example',
    '[2001:db8::1]',
  ])
    expect(opensOnlyHere(`https://${host}/127.0.0.1`), host).toBe(false);
});
