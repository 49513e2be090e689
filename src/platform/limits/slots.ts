/** Bounds on what this process does at the same time. */
export interface SlotRules {
  /** the weight of all that runs; a heavier task runs alone */
  total: number;
  /** tasks that may wait, in order of arrival; by default any number */
  mostWaiting?: number;
  /** longest wait in milliseconds; by default any */
  patienceMs?: number;
  /** the error of a task that finds no room to wait, or waits too long */
  full?: () => Error;
}

/** Slots of this process. */
export interface ProcessSlots {
  /**
   * Takes slots, which `free` gives back.
   *
   * @returns undefined if they are free at once; otherwise a promise that resolves when they are, or rejects with `full`
   */
  take(weight?: number): Promise<void> | undefined;
  free(weight?: number): void;
  /** Runs a task in a slot. */
  run<Result>(task: () => Promise<Result>): Promise<Result>;
}

/** Bounds how much of something runs at once in this process, and how much waits. */
export function processSlots({
  total,
  mostWaiting = Number.POSITIVE_INFINITY,
  patienceMs,
  full = () => new Error('no slot is free'),
}: SlotRules): ProcessSlots {
  const waiting = new Set<{ weight: number; admit: () => void }>();
  let taken = 0;
  const fits = (weight: number) => taken === 0 || taken + weight <= total;

  function admit(): void {
    for (const next of waiting) {
      if (!fits(next.weight)) return;
      waiting.delete(next);
      taken += next.weight;
      next.admit();
    }
  }

  function take(weight = 1): Promise<void> | undefined {
    if (waiting.size === 0 && fits(weight)) {
      taken += weight;
      return undefined;
    }
    if (waiting.size >= mostWaiting) return Promise.reject(full());
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.delete(entry);
        reject(full());
        admit();
      };
      const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs);
      const entry = {
        weight,
        admit() {
          clearTimeout(timer);
          resolve();
        },
      };
      waiting.add(entry);
    });
  }

  function free(weight = 1): void {
    taken -= weight;
    admit();
  }

  return {
    take,
    free,
    async run(task) {
      const waits = take();
      if (waits) await waits;
      try {
        return await task();
      } finally {
        free();
      }
    },
  };
}

/** Weights that callers hold in this process at the same time: all together, and each. */
export interface SharedSlots {
  /**
   * Takes a weight, which `free` gives back.
   *
   * @param caller undefined for one who is not bounded alone
   * @returns false if there is no room
   */
  take(caller: string | undefined, weight: number): boolean;
  free(caller: string | undefined, weight: number): void;
}

/** Bounds what all callers hold in this process, and what each does. Nobody waits. */
export function sharedSlots({ total, perCaller }: { total: number; perCaller: number }): SharedSlots {
  const byCaller = new Map<string, number>();
  let taken = 0;

  function add(caller: string | undefined, weight: number): void {
    taken += weight;
    if (caller === undefined) return;
    const left = (byCaller.get(caller) ?? 0) + weight;
    if (left > 0) byCaller.set(caller, left);
    else byCaller.delete(caller);
  }

  return {
    take(caller, weight) {
      const own = caller === undefined ? 0 : (byCaller.get(caller) ?? 0);
      if (taken + weight > total || own + weight > perCaller) return false;
      add(caller, weight);
      return true;
    },
    free: (caller, weight) => add(caller, -weight),
  };
}
