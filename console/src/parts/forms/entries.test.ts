import { expect, test } from 'vitest';
import { changesBetween } from './entries.ts';

const entries = (...list: [string, string | boolean][]) => JSON.stringify(list);

test('fields that differ are counted once each, also those that were empty or are empty now', () => {
  const before = entries(['name', 'Kibogora'], ['note', 'old'], ['isPublic', true]);
  expect(changesBetween(before, before)).toBe(0);
  expect(changesBetween(before, entries(['name', 'Macuba'], ['note', 'old'], ['isPublic', true]))).toBe(1);
  expect(changesBetween(before, entries(['name', 'Kibogora'], ['isPublic', true], ['weight', '69.5']))).toBe(
    2,
  );
});
