import { expect, test } from 'vitest';
import { batchLoader } from './batch-loader.ts';

const turn = () => new Promise(resolve => setImmediate(resolve));

test('look-ups that arrive while one is in flight are combined, and none is answered by an earlier load', async () => {
  const loads: number[][] = [];
  const gates: (() => void)[] = [];
  const find = batchLoader(
    async (keys: number[]) => {
      loads.push(keys);
      await new Promise<void>(resolve => gates.push(resolve));
      return keys.map(key => key * 10);
    },
    { max: 3 },
  );
  const first = find(1);
  await turn();
  const rest = [find(1), find(2), find(3), find(4), find(2)];
  expect(loads).toEqual([[1]]);
  for (let n = 0; n < 3; n++) {
    gates[n]?.();
    await turn();
  }
  expect(await Promise.all([first, ...rest])).toEqual([10, 10, 20, 30, 40, 20]);
  expect(loads).toEqual([[1], [1, 2, 3], [4]]);
});

test('a load that fails, or throws at once, fails its own callers and no later ones', async () => {
  let failing: 'rejects' | 'throws' | 'no' = 'rejects';
  const find = batchLoader(
    (keys: string[]) => {
      if (failing === 'throws') throw new Error('at once');
      return failing === 'rejects' ? Promise.reject(new Error('later')) : Promise.resolve(keys);
    },
    { max: 10 },
  );
  await expect(Promise.all([find('a'), find('b')])).rejects.toThrow('later');
  failing = 'throws';
  await expect(find('a')).rejects.toThrow('at once');
  failing = 'no';
  expect(await find('a')).toBe('a');
});

test('keys are the same when they have the same in common', async () => {
  const loads: { id: number }[][] = [];
  const load = async (keys: { id: number }[]) => {
    loads.push(keys);
    return keys.map(({ id }) => id * 10);
  };
  const find = batchLoader(load, { max: 10, same: ({ id }) => id });
  expect(await Promise.all([find({ id: 1 }), find({ id: 2 }), find({ id: 1 })])).toEqual([10, 20, 10]);
  expect(loads).toEqual([[{ id: 1 }, { id: 2 }]]);
});
