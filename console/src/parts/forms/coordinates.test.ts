import { expect, test } from 'vitest';
import { readPair } from './coordinates.ts';

test('pairs are read with points and with commas, however they are separated', () => {
  for (const text of ['-1.95, 30.062', '-1,95; 30,062', ' -1.95,30.062 ', '−1.95\t30.062', '-1,95, +30,062'])
    expect(readPair(text), text).toEqual(['-1.95', '30.062']);
  expect(readPair('-1.95° 30°')).toEqual(['-1.95', '30']);
});

test('a single number, or a text that may be one, is no pair', () => {
  for (const text of [
    '',
    '1',
    '-1.95',
    '-1,95',
    '1,234',
    '12,34',
    'here',
    '1 2 3',
    '1234.5 6',
    '1.5,',
    ', 1',
  ])
    expect(readPair(text), text).toBeUndefined();
});
