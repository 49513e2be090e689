import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fault } from './reasons/catalogue.ts';
import { waitingSlots } from './waiting-slots.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const slots = (most: number) =>
  waitingSlots({
    most,
    patienceMs: 5000,
    full: fault('limit.places_without_token', { what: 'exports' }),
    retryAfter: 10,
  });

test('a place that becomes free goes to the first that waits', async () => {
  const take = slots(2);
  const frees = [await take(), await take()];
  const admitted: string[] = [];
  const next = take().then(free => {
    admitted.push('next');
    return free;
  });
  const last = take().then(() => admitted.push('last'));
  vi.advanceTimersByTime(4999);
  expect(admitted).toEqual([]);
  frees[0]?.();
  const free = await next;
  expect(admitted).toEqual(['next']);
  free();
  await last;
  expect(admitted).toEqual(['next', 'last']);
});

test('a request that gets no place in time is refused, and takes none later', async () => {
  const take = slots(1);
  const free = await take();
  const refused = expect(take()).rejects.toMatchObject({
    code: 'unavailable',
    message: 'too many exports are running without a token; try again, or send a token',
    retryAfter: 10,
  });
  vi.advanceTimersByTime(5000);
  await refused;
  free();
  await take();
  expect(vi.getTimerCount()).toBe(0);
});
