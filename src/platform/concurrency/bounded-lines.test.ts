import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { boundedLines } from './bounded-lines.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('only a few of many lines in a minute are logged, and the next minute reports how many are missing', () => {
  const lines: number[] = [];
  const logBounded = boundedLines(3);
  for (let n = 0; n < 10; n++) logBounded(missing => lines.push(missing));
  expect(lines).toEqual([0, 0, 0]);
  vi.advanceTimersByTime(59_999);
  logBounded(missing => lines.push(missing));
  expect(lines).toHaveLength(3);
  vi.advanceTimersByTime(1);
  logBounded(missing => lines.push(missing));
  logBounded(missing => lines.push(missing));
  expect(lines).toEqual([0, 0, 0, 8, 0]);
});
