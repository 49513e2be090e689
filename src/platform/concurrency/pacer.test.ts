import { expect, test } from 'vitest';
import { pacer } from './pacer.ts';

/** Runs pieces of work; returns in which turn of the event loop each began. */
async function turnsOf(weights: readonly number[], perTurn: number): Promise<number[]> {
  const pace = pacer(perTurn);
  let turn = 0;
  let counting = true;
  const count = () => {
    turn++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(
    weights.map(async weight => {
      await pace(weight);
      return turn;
    }),
  );
  counting = false;
  return turns;
}

test('a turn starts work up to its weight limit, and the rest keeps its order', async () => {
  expect(await turnsOf([4, 4, 4, 4, 4, 4, 4], 10)).toEqual([0, 0, 0, 1, 1, 1, 2]);
  expect(await turnsOf([100, 100, 1, 1, 9, 1], 10)).toEqual([0, 1, 2, 2, 2, 3]);
});

test('a piece of work starts at once if there is room', async () => {
  const pace = pacer(10);
  expect(pace(10)).toBeUndefined();
  const second = pace(1);
  expect(second).toBeInstanceOf(Promise);
  await second;
  await new Promise(resolve => setImmediate(resolve));
  await new Promise(resolve => setImmediate(resolve));
  expect(pace(1)).toBeUndefined();
});

test('other work has its turn between two pieces', async () => {
  const pace = pacer(10);
  const order: string[] = [];
  const pieces = Array.from({ length: 4 }, async (_, n) => {
    await pace(10);
    order.push(`piece ${n}`);
  });
  const others = Array.from({ length: 4 }, async (_, n) => {
    for (let turn = 0; turn <= n; turn++) await new Promise(resolve => setImmediate(resolve));
    order.push(`other ${n}`);
  });
  await Promise.all([...pieces, ...others]);
  expect(order.indexOf('other 0')).toBeLessThan(order.indexOf('piece 2'));
  expect(order.indexOf('other 1')).toBeLessThan(order.indexOf('piece 3'));
});
