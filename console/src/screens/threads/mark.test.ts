import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markHits } from './mark.ts';

const hits = (text: string, keyword: string) =>
  markHits(text, keyword)
    .filter(({ isHit }) => isHit)
    .map(({ text: hit }) => hit);

test('every occurrence is marked in any script, upper and lower case are equal', () => {
  expect(markHits('Rust on lot 7: RUST!', 'rust')).toEqual([
    { text: 'Rust', isHit: true },
    { text: ' on lot 7: ', isHit: false },
    { text: 'RUST', isHit: true },
    { text: '!', isHit: false },
  ]);
  expect(hits('गेहूं में रतुआ', 'रतुआ')).toEqual(['रतुआ']);
  expect(hits('小麦叶锈病', '叶锈')).toEqual(['叶锈']);
  expect(hits('ΟΔΥΣΣΕΥΣ', 'οδυσσευ')).toEqual(['ΟΔΥΣΣΕΥ']);
  expect(hits('İstanbul', 'i')).toEqual(['İ']);
  expect(hits('🌱🌱', '🌱')).toEqual(['🌱', '🌱']);
  expect(hits('aaa', 'aa')).toEqual(['aa']);
  expect(hits('a<b>', '<b>')).toEqual(['<b>']);
});

test('without a keyword, or without a hit, nothing is marked', () => {
  expect(markHits('text', '')).toEqual([{ text: 'text', isHit: false }]);
  expect(markHits('text', 'z')).toEqual([{ text: 'text', isHit: false }]);
  expect(markHits('', 'z')).toEqual([]);
});

test('the stretches are the text, whatever it is', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary', maxLength: 3 }),
      (text, keyword) => {
        expect(
          markHits(text + keyword, keyword)
            .map(({ text: part }) => part)
            .join(''),
        ).toBe(text + keyword);
      },
    ),
  );
});
