/** How long a read waits for a replica to have what it must see, in milliseconds. */
const WAIT_MS = 1000;
/** Reads that wait at the same time, at most; further ones go to the primary. */
const MAX_WAITING = 1000;

/** Reads that wait until a replica has replayed a position. They hold no connection. */
export interface PositionWaiters<Replica> {
  /** Resolves with the replica, or with undefined after a second, or at once when too many wait. */
  wait(position: bigint): Promise<Replica | undefined>;
  /** Ends the waits for which `find` gives a replica. */
  serve(find: (position: bigint) => Replica | undefined): void;
  /** Ends all waits without one. */
  giveUp(): void;
  /** whether any read waits */
  isAny(): boolean;
}

export function positionWaiters<Replica>(): PositionWaiters<Replica> {
  const waiters = new Set<{ position: bigint; go: (replica?: Replica) => void }>();
  return {
    wait(position) {
      const { promise, resolve } = Promise.withResolvers<Replica | undefined>();
      if (waiters.size >= MAX_WAITING) return Promise.resolve(undefined);
      const timer = setTimeout(() => go(), WAIT_MS);
      const waiter = { position, go };
      function go(replica?: Replica): void {
        waiters.delete(waiter);
        clearTimeout(timer);
        resolve(replica);
      }
      waiters.add(waiter);
      return promise;
    },
    serve(find) {
      for (const { position, go } of waiters) {
        const replica = find(position);
        if (replica) go(replica);
      }
    },
    giveUp() {
      for (const { go } of waiters) go();
    },
    isAny: () => waiters.size > 0,
  };
}
