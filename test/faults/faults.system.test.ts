import { expect, test } from 'vitest';
import { runFaults, troublesOf } from './run.ts';

/**
 * Of each sort one that needs no root. Ends of processes come first: a mail that one of them was sending is sent again
 * within a minute, and is waited for.
 */
const PLAN = [
  'kill both',
  'kill one of three',
  'stalled clients and stop',
  'kill postmaster',
  'kill backend',
  'black hole',
];

test('three processes under a load of writes lose, double and change nothing when processes, PostgreSQL and the network fail', async () => {
  const lines: string[] = [];
  const onLine = (line: string) => void lines.push(line);
  const outcome = await runFaults({ plan: PLAN, minutes: 5, seed: 1, writers: 8, restMs: 100, onLine });
  expect(troublesOf(outcome), lines.join('\n')).toEqual([]);
  expect(outcome.ended).toBeUndefined();
  expect(outcome.records).toBeGreaterThan(100);
}, 300_000);
