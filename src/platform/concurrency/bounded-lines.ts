const MINUTE_MS = 60_000;

/**
 * Bounds how often something is logged. Beyond the limit lines are counted, and the next one that is logged says how
 * many are missing.
 *
 * @param perMinute lines in a minute, at most
 * @returns a function that calls `tell` with the number of lines missing before it, or counts
 */
export function boundedLines(perMinute: number): (tell: (missing: number) => void) => void {
  let minute = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let missing = 0;
  return tell => {
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
    tell(missing);
    missing = 0;
  };
}
