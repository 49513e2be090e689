import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { positionWaiters } from './waiters.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a read waits until a replica has its position, for a second at most', async () => {
  const waiters = positionWaiters<string>();
  const [early, late] = [waiters.wait(5n), waiters.wait(9n)];
  waiters.serve(position => (position <= 7n ? 'a replica' : undefined));
  expect(await early).toBe('a replica');
  expect(waiters.isAny()).toBe(true);
  vi.advanceTimersByTime(1000);
  expect(await late).toBeUndefined();
  expect(waiters.isAny()).toBe(false);
});

test('a thousand reads can wait, and no more', async () => {
  const waiters = positionWaiters<string>();
  const waiting = Array.from({ length: 1000 }, (_, n) => waiters.wait(BigInt(n)));
  expect(await waiters.wait(0n)).toBeUndefined();
  waiters.serve(position => (position < 500n ? 'a replica' : undefined));
  waiters.giveUp();
  const found = await Promise.all(waiting);
  expect(found.filter(replica => replica === 'a replica')).toHaveLength(500);
  expect(found.filter(replica => replica === undefined)).toHaveLength(500);
});
