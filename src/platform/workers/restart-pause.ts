/** A worker that ran for so long was healthy, in milliseconds: another one is started at once. */
const STEADY_MS = 10_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * How long to wait before a worker that has ended is started again: not at all after a healthy one, and after others a
 * second, which doubles each time, so that workers that cannot start do not keep the machine busy.
 *
 * @param ranMs how long it ran
 * @param failures how often in a row workers in its slot ended soon
 * @returns in milliseconds, with the number of failures of the next one
 */
export function restartPause(ranMs: number, failures: number): { pause: number; failed: number } {
  if (ranMs >= STEADY_MS) return { pause: 0, failed: 0 };
  return { pause: Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), failed: failures + 1 };
}
