import { expect, test } from 'vitest';
import { contentOf, fieldsOf, formOf, opensOnlyHere, previewOf } from './label.ts';

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

test('the preview has what is shown, and nothing else', () => {
  const form = formOf({ fields: FIELDS }, CONTENT);
  expect(previewOf(form, CONTENT)).toEqual({
    photo: undefined,
    logo: undefined,
    texts: [
      { name: 'name', text: 'Washed' },
      { name: 'origin', text: 'Hills' },
    ],
    pins: ['Station A'],
  });
  const locations = [
    { pinName: 'Station A', countryCode: 'HN' },
    { latitude: -2.5, longitude: 29.25, countryCode: 'DE' },
    { latitude: 3 },
  ];
  const inSpanish = { ...form, language: 'es-a' };
  expect(previewOf(inSpanish, { ...CONTENT, origin: { locations } }).pins).toEqual([
    'Station A, Honduras',
    '-2.5, 29.25, Alemania',
  ]);
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
