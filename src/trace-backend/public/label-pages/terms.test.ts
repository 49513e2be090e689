import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FIELDS, type Field } from '../../catalogue/companies/record/fields.ts';
import { termOf } from './terms.ts';

const MESSAGES = path.resolve(import.meta.dirname, '../../../../console/src/messages');
const PATHS = [
  ...['description', 'origin', 'origin.map', 'journeyMarkers', 'process.production'],
  ...['responsibility.laborPolicies', 'documents', 'company.certifications', 'certification.until'],
  ...['sustainability.production', 'sustainability.packaging', 'sustainability.co2Footprint'],
  ...Object.entries<Field>(FIELDS).flatMap(([name, { label }]) =>
    label === 'shown' ? [`company.${name}`] : [],
  ),
];

test.each(['en', 'de', 'es', 'rw', 'fr', 'sw'])(
  "headings are the words of the console's preview (%s)",
  language => {
    const messages = JSON.parse(readFileSync(path.join(MESSAGES, language, 'labels.json'), 'utf8'));
    for (const name of PATHS) {
      expect(termOf(name, language), name).toBe(messages[`part.${name.replaceAll('.', '-')}`]);
    }
  },
);

test('languages are compared without region and case; one without a translation gets English', () => {
  expect(termOf('origin', 'De-CH')).toBe('Herkunft');
  expect(termOf('origin', 'pt')).toBe('Origin');
  expect(termOf('origin', 'des')).toBe('Origin');
  expect(termOf('origin')).toBe('Origin');
  expect(termOf('company.headquarters', 'EN')).toBeUndefined();
});
