import { expect, test } from 'vitest';
import { runFaults, troublesOf } from './run.ts';

/** One of each sort that a machine without root can bring about, the worst first. */
const PLAN = [
  'kill both',
  'kill backend',
  'black hole',
  'kill postmaster',
  'kill one of three',
  'pause backend',
  'kill both',
  'stalled clients and stop',
];

test('three processes under a load of writes lose, double and change nothing when processes, PostgreSQL and the network fail', async () => {
  const told: string[] = [];
  const tell = (line: string) => void told.push(line);
  const outcome = await runFaults({ plan: PLAN, minutes: 5, seed: 1, writers: 16, restMs: 20, tell });
  expect(troublesOf(outcome), told.join('\n')).toEqual([]);
  expect(outcome.ended).toBeUndefined();
  expect(outcome.records).toBeGreaterThan(200);
}, 300_000);
