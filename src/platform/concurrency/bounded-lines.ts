const MINUTE_MS = 60_000;

/**
 * Bounds how often something is logged. Beyond the limit lines are counted, and the next one that is logged says how
 * many are missing.
 *
 * @param perMinute maximum lines in a minute
 * @returns a function that calls `log` with the number of lines missing before it, or counts
 */
export function boundedLines(perMinute: number): (log: (missing: number) => void) => void {
  let minute = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let missing = 0;
  return log => {
    const now = performance.now();
    if (now - minute >= MINUTE_MS) {
      minute = now;
      lines = 0;
    }
    if (lines >= perMinute) {
      missing++;
      return;
    }
    lines++;
    log(missing);
    missing = 0;
  };
}
