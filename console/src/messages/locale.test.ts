import { expect, test } from 'vitest';
import { localeOf } from './locale.ts';

test('dates are those of the region of the browser, if its language is the one of the console', () => {
  const written = (language: string, tags: string[]) =>
    new Intl.DateTimeFormat(localeOf(language, tags), { dateStyle: 'short', timeZone: 'UTC' }).format(0);
  expect(written('en', ['de-DE', 'en-GB', 'en-US'])).toBe('01/01/1970');
  expect(written('en', ['en-US', 'en-GB'])).toBe('1/1/70');
  expect(written('de', ['en-GB'])).toBe('01.01.70');
  expect(['en-US@posix', 'en_GB', 'en', 'c'].map(tag => localeOf('en', [tag]))).toEqual(Array(4).fill('en'));
});
