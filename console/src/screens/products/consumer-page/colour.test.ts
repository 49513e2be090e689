import { expect, test } from 'vitest';
import { colourNote, hexOf } from './colour.ts';

test('a picker takes colours of three or six digits, in any case and with space around them', () => {
  expect([' #07F ', '#25265E', 'red', '#12345', ''].map(hexOf)).toEqual([
    '#0077ff',
    '#25265e',
    undefined,
    undefined,
    undefined,
  ]);
});

test('reports colours that are hard to read or that the page ignores', () => {
  expect(colourNote('#ffee00')).toBe('darker');
  expect(colourNote('#25265E')).toBe('lighter');
  expect(colourNote('#767676')).toBe('darker');
  expect(colourNote('red')).toBe('ignored');
  expect(colourNote(' ')).toBeUndefined();
});
