import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrastOf } from '../contrast.ts';
import { DISC, HALF_SIDE, SQUARE, shapeImage } from './shapes.ts';

const css = readFileSync(new URL('./map-colours.css', import.meta.url), 'utf8');

/** The colour of a custom property in a theme. */
function colourOf(name: string, theme: 'light' | 'dark'): string {
  const found = new RegExp(`--map-${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css);
  return found?.[theme === 'light' ? 1 : 2] ?? '';
}

test('borders, marks, edges and letters contrast with land and water in both themes', () => {
  for (const theme of ['light', 'dark'] as const) {
    for (const [name, ground, least] of [
      ['border', 'land', 3],
      ['border', 'water', 3],
      ['mark', 'land', 3],
      ['mark', 'water', 3],
      ['mark', 'field', 3],
      ['point', 'land', 3],
      ['point', 'water', 3],
      ['chosen', 'land', 3],
      ['chosen', 'water', 3],
      ['text', 'land', 4.5],
      ['text', 'water', 4.5],
      ['soft', 'land', 4.5],
      ['soft', 'halo', 4.5],
      ['water-text', 'water', 4.5],
      ['on-mark', 'mark', 4.5],
      ['ink', 'field', 4.5],
      // The shore separates them as well.
      ['land', 'water', 1.2],
    ] as const) {
      const contrast = contrastOf(colourOf(name, theme), colourOf(ground, theme));
      expect(contrast, `${name} on ${ground}, ${theme}`).toBeGreaterThanOrEqual(least);
    }
  }
});

test.each([SQUARE, DISC] as const)('the %s of marks has its edge where MapLibre takes it to be', name => {
  const { width, height, data } = shapeImage(name);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [Math.abs(x + 0.5 - width / 2), Math.abs(y + 0.5 - height / 2)];
      const middle = name === SQUARE ? Math.max(dx, dy) : Math.hypot(dx, dy);
      const opacity = data[4 * (y * width + x) + 3] as number;
      expect(opacity > 0.75 * 255, `${x}, ${y}`).toBe(middle < HALF_SIDE);
    }
  }
});
