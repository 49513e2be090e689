import { expect, test } from 'vitest';
import { matchPath } from './match-path.ts';

test('a path matches a pattern part by part', () => {
  expect(matchPath('/packets', '/packets/')).toEqual({});
  expect(matchPath('/packets/:id', '/packets/a%20b')).toEqual({ id: 'a b' });
  expect(matchPath('/packets/:id', '/packets/%zz')).toEqual({ id: '%zz' });
  expect(matchPath('/packets/:id', '/packets/')).toBeUndefined();
  expect(matchPath('/packets/:id', '/threads/1')).toBeUndefined();
  expect(matchPath('/', '/')).toEqual({});
});
