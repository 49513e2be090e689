import { expect, test } from 'vitest';
import { sharedReads } from './shared-reads.ts';

const same = (state: string) => () => Promise.resolve(state);

/** Reads that end when the test lets them. */
function controlled() {
  const ends: PromiseWithResolvers<string>[] = [];
  return {
    ends,
    read() {
      const end = Promise.withResolvers<string>();
      ends.push(end);
      return end.promise;
    },
  };
}

test('requests during or after a read share it', async () => {
  const shared = sharedReads<string>();
  const { ends, read } = controlled();
  const reads = [shared.read('day', 's', read, same('s')), shared.read('day', 's', read, same('s'))];
  ends[0]?.resolve('first');
  expect(await Promise.all(reads)).toEqual(['first', 'first']);
  expect(await shared.read('day', 's', read, same('s'))).toBe('first');
  expect(ends).toHaveLength(1);
});

test('another key or state is read separately', async () => {
  const shared = sharedReads<string>();
  const readKey = (key: string, state: string) =>
    shared.read(key, state, async () => `${key} ${state}`, same(state));
  expect(await readKey('day', '1')).toBe('day 1');
  expect(await readKey('week', '1')).toBe('week 1');
  expect(await readKey('day', '2')).toBe('day 2');
  expect(await readKey('day', '1')).toBe('day 1');
});

test('a read during which the state changes, or that fails, is not kept', async () => {
  const shared = sharedReads<string>();
  let count = 0;
  const read = async () => `${++count}`;
  expect(await shared.read('day', 's', read, same('t'))).toBe('1');
  await Promise.resolve();
  await expect.poll(() => shared.find('day', 's')).toBeUndefined();
  expect(await shared.read('day', 's', read, same('s'))).toBe('2');
  await expect(shared.read('week', 's', () => Promise.reject(new Error('gone')), same('s'))).rejects.toThrow(
    'gone',
  );
  await expect.poll(() => shared.find('week', 's')).toBeUndefined();
  expect(await shared.read('week', 's', read, same('s'))).toBe('3');
});

test('without a state nothing is kept', async () => {
  const shared = sharedReads<string>();
  let count = 0;
  const readDay = () => shared.read('day', undefined, async () => `${++count}`, same('s'));
  expect([await readDay(), await readDay()]).toEqual(['1', '2']);
});

test('reads are forgotten after half a minute, and the least recently used one when the 33rd arrives', async () => {
  let clock = 0;
  const shared = sharedReads<string>(() => clock);
  const readKey = (key: string) => shared.read(key, 's', async () => `${key} at ${clock}`, same('s'));
  const keys = Array.from({ length: 33 }, (_, n) => `key ${n}`);
  for (const key of keys.slice(0, 32)) await readKey(key);
  clock = 30_000;
  expect(await readKey('key 0')).toBe('key 0 at 0');
  await readKey('key 32');
  expect(keys.filter(key => !shared.find(key, 's'))).toEqual(['key 1']);
  clock = 30_001;
  expect(await readKey('key 0')).toBe('key 0 at 30001');
  expect(await readKey('key 32')).toBe('key 32 at 30000');
});
