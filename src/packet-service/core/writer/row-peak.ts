/** The part of the peak by which each batch lowers it. */
const DECAY = 1 / 16;

/** The most rows that were open at the same time lately: about how many the clients have under way. */
export interface RowPeak {
  /** rows, decaying */
  value(): number;
  /** @param open rows that wait or are in flight, after some have come */
  arrived(open: number): void;
  /** @param open the same, after a batch has ended */
  batchEnded(open: number): void;
}

export function rowPeak(): RowPeak {
  let peak = 0;
  return {
    value: () => peak,
    arrived(open) {
      if (open > peak) peak = open;
    },
    batchEnded(open) {
      peak = Math.max(open, peak * (1 - DECAY));
    },
  };
}
