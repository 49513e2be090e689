/** Positions that are kept, at most: an hour of them at two a second, and some more. */
const MAX_KEPT = 8000;

/** Positions of the primary over time. */
export interface PrimaryTrack {
  /**
   * Adds a position of the primary.
   *
   * @param at time in milliseconds
   * @returns false if it is before the last one: another server has become the primary, and the track starts over
   */
  add(position: bigint, at: number): boolean;
  /**
   * For how long a replica has lacked something that the primary had, in milliseconds; 0 if it lacks nothing that is
   * known; undefined if it has not replayed even the first position of the track, so that its lag is not known.
   */
  lagOf(replayed: bigint, now: number): number | undefined;
}

/**
 * Lag as time, from positions of the primary at known times. The time of the last replayed transaction, which a standby
 * tells, grows while nothing is written.
 */
export function primaryTrack(): PrimaryTrack {
  let track: { position: bigint; at: number }[] = [];
  return {
    add(position, at) {
      const last = track.at(-1);
      const goesOn = last === undefined || position >= last.position;
      if (!goesOn) track = [];
      // While nothing is written, the time of the first look at a position counts.
      if (!goesOn || position !== last?.position) track.push({ position, at });
      if (track.length > MAX_KEPT) track.shift();
      return goesOn;
    },
    lagOf(replayed, now) {
      const missing = firstBeyond(track, replayed);
      if (missing === 0) return undefined;
      const first = track[missing];
      return first === undefined ? 0 : now - first.at;
    },
  };
}

/** Index of the first position beyond another one; the length of the track if there is none. */
function firstBeyond(track: readonly { position: bigint }[], replayed: bigint): number {
  let [low, high] = [0, track.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((track[middle] as { position: bigint }).position > replayed) high = middle;
    else low = middle + 1;
  }
  return low;
}
