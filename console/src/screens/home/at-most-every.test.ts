import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { atMostEvery } from './at-most-every.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('works at once, and once more after further requests', () => {
  const work = vi.fn();
  const { ask, end } = atMostEvery(1000, work);
  ask();
  expect(work).toHaveBeenCalledTimes(1);
  for (let n = 0; n < 5; n++) ask();
  expect(work).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  expect(work).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(5000);
  expect(work).toHaveBeenCalledTimes(2);
  ask();
  expect(work).toHaveBeenCalledTimes(3);
  ask();
  end();
  vi.advanceTimersByTime(5000);
  expect(work).toHaveBeenCalledTimes(3);
});
