import { expect, test } from 'vitest';
import { bodyOf, fieldAt, formOf } from './code.ts';
import { type CodeList, findList } from './lists.ts';

const types = findList('processing-evidence-types') as CodeList;
const units = findList('measure-unit-types') as CodeList;

test('the form of a code makes a body that changes nothing else', () => {
  const code = {
    id: 7,
    code: 'NOTE',
    label: 'Delivery note',
    type: 'DOCUMENT',
    fairness: true,
    translations: [
      { language: 'EN', label: 'Delivery note' },
      { language: 'DE', label: 'Lieferschein' },
    ],
  };
  const form = formOf(types, code);
  expect(form.texts).toEqual({ 'DE.label': 'Lieferschein', 'ES.label': '', 'RW.label': '' });
  expect(bodyOf(types, form)).toEqual({
    code: 'NOTE',
    label: 'Delivery note',
    type: 'DOCUMENT',
    fairness: true,
    provenance: false,
    quality: false,
    mandatory: false,
    requiredOnQuote: false,
    disabled: false,
    requiredOneOfGroupIdForQuote: '',
    translations: [{ language: 'DE', label: 'Lieferschein' }],
  });
});

test('a choice that was not made is not sent, numbers are numbers, and a unit is sent by its id', () => {
  expect(bodyOf(types, formOf(types))).not.toHaveProperty('type');
  const form = formOf(units, { code: 'BAG', weight: 60, underlyingMeasurementUnitType: { id: 3 } });
  expect(bodyOf(units, form)).toMatchObject({ weight: 60, underlyingMeasurementUnitType: { id: 3 } });
  form.values.weight = null;
  form.unit = '';
  expect(bodyOf(units, form)).toMatchObject({ weight: '', underlyingMeasurementUnitType: '' });
  expect(bodyOf(units, form)).not.toHaveProperty('translations');
});

test('a conflict belongs to the field that shows it', () => {
  expect(['code', 'DE.label', 'RW.description', 'unit'].map(fieldAt)).toEqual([
    'code',
    'translations.0.label',
    'translations.2.description',
    'unit',
  ]);
});
