import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrastOf } from '../parts/contrast.ts';

const css = readFileSync(new URL('tokens.css', import.meta.url), 'utf8');

/** A token in a theme, with the tokens that it is made of replaced. */
function colour(name: string, theme: 'light' | 'dark'): string {
  const value = new RegExp(`^ {2}--${name}: (.+);$`, 'm').exec(css)?.[1];
  if (value === undefined) throw new Error(`there is no token ${name}`);
  const pair = /^light-dark\((.+?), ([^,]+)\)$/.exec(value);
  const one = pair ? (pair[theme === 'light' ? 1 : 2] as string) : value;
  const inner = /^var\(--([\w-]+)\)$/.exec(one)?.[1];
  return inner ? colour(inner, theme) : one;
}

const GROUNDS = ['paper', 'frame', 'raised', 'sunken', 'hover', 'wash'];
const TEXT = 4.5;
const SHAPE = 3;

/** Foregrounds, their backgrounds, and the minimum contrast of WCAG 2.2 AA. */
const PAIRS: [front: string, grounds: string[], least: number][] = [
  ['ink', [...GROUNDS, 'warn-wash', 'bad-wash', 'info-wash', 'good-wash'], TEXT],
  ['label', GROUNDS, TEXT],
  ['soft', GROUNDS, TEXT],
  ['link', [...GROUNDS, 'warn-wash', 'bad-wash', 'info-wash'], TEXT],
  ['on-accent', ['accent', 'accent-strong'], TEXT],
  ['good', ['raised', 'paper', 'good-wash'], TEXT],
  ['warn', ['raised', 'paper', 'warn-wash'], TEXT],
  ['bad', ['raised', 'paper', 'bad-wash', 'hover'], TEXT],
  ['info', ['raised', 'paper', 'info-wash'], TEXT],
  ['edge', ['raised', 'paper'], SHAPE],
  ['focus', GROUNDS, SHAPE],
  ['accent', GROUNDS, SHAPE],
  ...[1, 2, 3, 4, 5, 6].map((n): [string, string[], number] => [`data-${n}`, ['raised', 'paper'], SHAPE]),
];

test.each(PAIRS)('%s has enough contrast on %j, in both themes', (front, grounds, least) => {
  for (const theme of ['light', 'dark'] as const)
    for (const ground of grounds) {
      const contrast = contrastOf(colour(front, theme), colour(ground, theme));
      expect(contrast, `${front} on ${ground}, ${theme}`).toBeGreaterThanOrEqual(least);
    }
});
