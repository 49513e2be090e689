/** The speed at which a client must read, on average over a time in which something waits for it. */
export interface ReadingSpeed {
  bytesPerSecond: number;
  seconds: number;
}

/** A connection at one moment. */
export interface ReadingLook {
  /** bytes that have left this process for the client so far */
  taken: number;
  /** whether something waits for the client to read it */
  waits: boolean;
}

/**
 * Measures how fast a client reads. Only time counts in which something waited for the client, as far as two looks in a
 * row have seen it: a client that waits for the service is never too slow, however little there is to read.
 *
 * @param slowest the speed below which a client is too slow
 * @param everySeconds seconds between two looks; a process that is late counts less time, not more
 * @returns looks at the connection, and says whether its client was too slow over the time that has just ended
 */
export function readingMeter(
  { bytesPerSecond, seconds }: ReadingSpeed,
  everySeconds: number,
): (look: ReadingLook) => boolean {
  let last: ReadingLook | undefined;
  let [waited, read] = [0, 0];
  return look => {
    if (last?.waits && look.waits) {
      waited += everySeconds;
      read += look.taken - last.taken;
    }
    last = look;
    if (waited < seconds) return false;
    const isTooSlow = read < bytesPerSecond * waited;
    [waited, read] = [0, 0];
    return isTooSlow;
  };
}
