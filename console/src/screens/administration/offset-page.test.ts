import { expect, test } from 'vitest';
import { LIMIT, offsetPage, offsetQuery } from './offset-page.ts';

test('a full page leads to the next, and one that is not full is the last', () => {
  const full = Array.from({ length: LIMIT }, (_, n) => n);
  expect(offsetPage(full, undefined).next).toBe(String(LIMIT));
  expect(offsetPage(full, '100').next).toBe(String(100 + LIMIT));
  expect(offsetPage([1], '100').next).toBeUndefined();
  expect(offsetQuery('50')).toEqual({ requestType: 'FETCH', limit: LIMIT, offset: 50 });
});
