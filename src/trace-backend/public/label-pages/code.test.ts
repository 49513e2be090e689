import { expect, test } from 'vitest';
import { cachedCodes, codeAsSvg } from './code.ts';

const url = (n: number) => `https://trace.example/api/public/product/label/${n}`;

/** A cache of codes, and the URLs for which one was drawn. */
function counted(maxBytes?: number) {
  const drawn: string[] = [];
  const draw = async (of: string) => {
    drawn.push(of);
    return codeAsSvg(of);
  };
  return { drawn, codeOf: cachedCodes(draw, maxBytes) };
}

test('a code is drawn once for concurrent and later requests', async () => {
  const { drawn, codeOf } = counted();
  const codes = await Promise.all(Array.from({ length: 50 }, (_, n) => codeOf(url(n % 2))));
  codes.push(await codeOf(url(0)), await codeOf(url(1)));
  expect(drawn).toEqual([url(0), url(1)]);
  expect(new Set(codes).size).toBe(2);
  expect(codes[0]).toBe(await codeAsSvg(url(0)));
});

test('the cache is bounded and keeps the codes requested last', async () => {
  const bytes = (await codeAsSvg(url(0))).length;
  const { drawn, codeOf } = counted(3.5 * bytes);
  for (const n of [0, 1, 2, 0, 3, 0, 1]) await codeOf(url(n));
  expect(drawn).toEqual([0, 1, 2, 3, 1].map(url));
});

test('a code is drawn again after a failure', async () => {
  let tries = 0;
  const codeOf = cachedCodes(async () => {
    if (++tries === 1) throw new Error('no memory');
    return 'a code';
  });
  await expect(codeOf(url(0))).rejects.toThrow('no memory');
  expect(await codeOf(url(0))).toBe('a code');
});
