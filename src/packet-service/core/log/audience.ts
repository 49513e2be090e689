import type { Entry } from './read-store.ts';

/** The participants of a thread. */
export interface ThreadAudience {
  users: readonly string[];
  /** whether the thread was created with a token, so that listeners without one get none of its messages */
  closed: boolean;
}

/** Gets new entries for one user, in the order of the log. */
export type Deliver = (news: readonly Entry[]) => void;

/** The entries that a request waits for: those for a user, packets with a GeoID (its key), or any. */
export type Interest = { userId: string } | { geoidKey: string } | 'anything';

/** The listeners in this process, by interest. */
export interface Audience {
  /** Subscribes to a user's entries; returns a function that unsubscribes. */
  subscribe(userId: string, deliver: Deliver): () => void;
  /** Adds a waiting request; returns a function that removes it. */
  await(interest: Interest, wake: () => void): () => void;
  hasUsers(): boolean;
  /** whether there are subscribers or waiting requests */
  listens(): boolean;
  geoidKeys(): string[];
  /** Delivers to each listening user their entries. `participants` are the users of each thread in the entries. */
  deliver(news: readonly Entry[], participants: ReadonlyMap<string, ThreadAudience>): void;
  /** Wakes those waiting for packets with these GeoIDs' keys, and those waiting for any entry. */
  wake(geoidKeys: readonly string[]): void;
  /** Wakes all who wait. */
  wakeAll(): void;
}

export function makeAudience(): Audience {
  const byUser = new Map<string, Set<Deliver>>();
  const byGeoid = new Map<string, Set<() => void>>();
  const byAnything = new Set<() => void>();
  const waiting = new Set<() => void>();

  function enlist(interest: Interest, wake: () => void): () => void {
    if (interest === 'anything') {
      byAnything.add(wake);
      return () => byAnything.delete(wake);
    }
    return 'userId' in interest
      ? addTo(byUser, interest.userId, wake)
      : addTo(byGeoid, interest.geoidKey, wake);
  }

  return {
    subscribe: (userId, deliver) => addTo(byUser, userId, deliver),
    await(interest, wake) {
      const leave = enlist(interest, wake);
      waiting.add(wake);
      return () => {
        waiting.delete(wake);
        leave();
      };
    },
    hasUsers: () => byUser.size > 0,
    listens: () => byUser.size > 0 || waiting.size > 0,
    geoidKeys: () => [...byGeoid.keys()],
    deliver(news, participants) {
      for (const [userId, own] of newsByUser(news, participants, byUser)) {
        for (const deliver of [...(byUser.get(userId) ?? [])]) deliver(own);
      }
    },
    wake(geoidKeys) {
      for (const key of geoidKeys) callAll(byGeoid.get(key));
      callAll(byAnything);
    },
    wakeAll: () => callAll(waiting),
  };
}

/** The entries for each listening user, in order. */
function newsByUser(
  news: readonly Entry[],
  participants: ReadonlyMap<string, ThreadAudience>,
  listening: ReadonlyMap<string, unknown>,
): Map<string, Entry[]> {
  const entries = new Map<string, Entry[]>();
  for (const entry of news) {
    const thread = entry.threadId === null ? undefined : participants.get(entry.threadId);
    const users = entry.threadId === null ? [entry.userId] : (thread?.users ?? []);
    const audienceEntry = thread ? { ...entry, closed: thread.closed } : entry;
    for (const user of users) {
      if (user === null || !listening.has(user)) continue;
      const own = entries.get(user);
      if (own) own.push(audienceEntry);
      else entries.set(user, [audienceEntry]);
    }
  }
  return entries;
}

function addTo<Member>(sets: Map<string, Set<Member>>, key: string, member: Member): () => void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(member));
  return () => {
    set.delete(member);
    if (set.size === 0 && sets.get(key) === set) sets.delete(key);
  };
}

/** Calls each one; listeners may be added or removed meanwhile. */
function callAll(calls: Iterable<() => void> | undefined): void {
  for (const call of [...(calls ?? [])]) call();
}
