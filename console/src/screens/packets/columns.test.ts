import { expect, test } from 'vitest';
import { additionalFields, cellText, chosenColumns, fieldsOf } from './columns.ts';

test('additional fields are what has no column of its own', () => {
  const bodies = [
    { message: 'm', crop: 'bean', severity: 3 },
    { capture_point: {}, severity: { max: 5 }, 'a,b': 1, '': 2 },
  ];
  expect(additionalFields(bodies)).toEqual(['crop', 'severity']);
  expect(chosenColumns(new URLSearchParams('columns=crop,severity,crop,'))).toEqual(['crop', 'severity']);
  expect(chosenColumns(new URLSearchParams())).toEqual([]);
  expect(bodies.map(body => cellText(body, 'severity'))).toEqual(['3', '{"max":5}']);
  expect(cellText({}, 'toString')).toBe('');
  expect(cellText({ crop: 'b'.repeat(500) }, 'crop')).toHaveLength(121);
  expect(fieldsOf({ text: 't', crop: 'bean', yes: true })).toEqual([
    { name: 'crop', text: 'bean' },
    { name: 'yes', text: 'true' },
  ]);
});
