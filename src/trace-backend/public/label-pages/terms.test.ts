import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { MESSAGE_LANGUAGES } from '../../../platform/messages/messages.ts';
import { FIELDS, type Field } from '../../catalogue/companies/record/fields.ts';
import { termOf } from './terms.ts';

const MESSAGES = path.resolve(import.meta.dirname, '../../../../messages');
const PATHS = [
  ...['description', 'origin', 'origin.map', 'journeyMarkers', 'process.production'],
  ...['responsibility.laborPolicies', 'documents', 'company.certifications', 'certification.until'],
  ...['sustainability.production', 'sustainability.packaging', 'sustainability.co2Footprint'],
  ...Object.entries<Field>(FIELDS).flatMap(([name, { label }]) =>
    label === 'shown' ? [`company.${name}`] : [],
  ),
];

test.each(MESSAGE_LANGUAGES)("headings are the words of the console's preview (%s)", language => {
  const [english, own] = ['en', language].map(code =>
    JSON.parse(readFileSync(path.join(MESSAGES, code, 'labels.json'), 'utf8')),
  );
  const messages = { ...english, ...own };
  for (const name of PATHS) {
    expect(termOf(name, language), name).toBe(messages[`part.${name.replaceAll('.', '-')}`]);
  }
});

test('languages are compared without region and case; one without a translation gets English', () => {
  expect(termOf('origin', 'De-CH')).toBe('Herkunft');
  expect(termOf('origin', 'pt')).toBe('Origin');
  expect(termOf('origin', 'des')).toBe('Origin');
  expect(termOf('origin')).toBe('Origin');
  expect(termOf('company.headquarters', 'EN')).toBeUndefined();
});
