import { expect, test } from 'vitest';
import { Failure } from '../../api/failure.ts';
import { isFinal, missingRecord } from './record-page.ts';

const refused = (status: number) => new Failure('internal words', status);

test('a page without access to its record names the record and links to the list', () => {
  const company = { kind: 'companies', list: 'companies.title', href: '/companies' };
  for (const status of [400, 403, 404])
    expect(missingRecord('/companies/7', refused(status))).toEqual(company);
  expect(missingRecord('/companies/7/members', refused(404))).toEqual(company);
  expect(missingRecord('/labels/7/', refused(404))).toMatchObject({ kind: 'labels', href: '/products' });
  expect(missingRecord('/code-lists/product-types/7', refused(404))).toMatchObject({ href: '/code-lists' });
});

test('other refusals do not concern the record', () => {
  for (const path of ['/', '/companies', '/code-lists/product-types', '/inbox', '/constructor/7']) {
    expect(missingRecord(path, refused(404)), path).toBeUndefined();
  }
  expect(missingRecord('/products/7/history', refused(403))).toBeUndefined();
  for (const status of [0, 429, 500, 503]) {
    expect(missingRecord('/companies/7', refused(status)), String(status)).toBeUndefined();
  }
  expect(missingRecord('/companies/7', new TypeError())).toBeUndefined();
});

test('only failures that can pass are retried', () => {
  expect([403, 404, 0, 429, 500, 503].map(status => isFinal(refused(status)))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(isFinal(new TypeError())).toBe(false);
});
