import { expect, test } from 'vitest';
import { restartPause } from './restart-pause.ts';

test('a worker that ran for a while is replaced at once, others after longer and longer pauses', () => {
  expect(restartPause(60_000, 3)).toEqual({ pause: 0, failed: 0 });
  const pauses: number[] = [];
  for (let failures = 0; failures < 8; ) {
    const { pause, failed } = restartPause(500, failures);
    pauses.push(pause);
    failures = failed;
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});
