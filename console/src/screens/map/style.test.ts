import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrastOf } from '../../parts/contrast.ts';
import { HALF_SIDE, squareImage } from './square.ts';
import { COLOUR_NAMES } from './style.ts';

const css = readFileSync(new URL('../../style/tokens.css', import.meta.url), 'utf8');

/** The colour of a custom property in a theme. */
function colourOf(name: string, theme: 'light' | 'dark'): string {
  const value = new RegExp(`--${name}: (.+);`).exec(css)?.[1] ?? '';
  const one = /^light-dark\((.+), (.+)\)$/.exec(value)?.[theme === 'light' ? 1 : 2] ?? value;
  const made = /^var\(--(.+)\)$/.exec(one)?.[1];
  return made === undefined ? one : colourOf(made, theme);
}

test('borders, points, edges and letters contrast with land and sea in both themes', () => {
  for (const theme of ['light', 'dark'] as const) {
    const of = Object.fromEntries(COLOUR_NAMES.map(name => [name, colourOf(name, theme)]));
    for (const [name, ground, least] of [
      ['border', 'land', 3],
      ['border', 'sea', 3],
      ['accent', 'land', 3],
      ['accent', 'sea', 3],
      ['ink', 'land', 4.5],
      ['ink', 'sea', 4.5],
      ['soft', 'land', 4.5],
      // The coast, which has the colour of borders, separates them as well.
      ['land', 'sea', 1.2],
    ] as const) {
      const contrast = contrastOf(of[name] as string, of[ground] as string);
      expect(contrast, `${name} on ${ground}, ${theme}`).toBeGreaterThanOrEqual(least);
    }
  }
});

test('the square of fields has its edge where MapLibre expects it, on all four sides', () => {
  const { width, height, data } = squareImage();
  const isInside = (x: number, y: number) => (data[4 * (y * width + x) + 3] as number) > 0.75 * 255;
  const first = width / 2 - HALF_SIDE;
  const last = width / 2 + HALF_SIDE - 1;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isSquare = x >= first && x <= last && y >= first && y <= last;
      expect(isInside(x, y), `${x}, ${y}`).toBe(isSquare);
    }
  }
});
