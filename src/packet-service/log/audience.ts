import type { Entry } from './read-store.ts';

/** Who takes part in a thread. */
export interface ThreadAudience {
  users: readonly string[];
  /** whether the thread was made with a token, so that nobody without one hears of its messages */
  closed: boolean;
}

/** Takes what is new for one user; called in the order of the log. */
export type Deliver = (news: readonly Entry[]) => void;

/** What somebody waits for: something for a user, a packet with a GeoID (its key), or anything. */
export type Interest = { userId: string } | { geoidKey: string } | 'anything';

/** Those who listen in this process, by what they want to hear. */
export interface Audience {
  /** Adds one who follows a user's news; returns what ends it. */
  subscribe(userId: string, deliver: Deliver): () => void;
  /** Adds one who waits; returns what ends it. */
  await(interest: Interest, wake: () => void): () => void;
  hasUsers(): boolean;
  /** whether anybody follows or waits */
  listens(): boolean;
  geoidKeys(): string[];
  /** Tells each user who listens what is for him. `participants` are the users of each thread in the news. */
  tell(news: readonly Entry[], participants: ReadonlyMap<string, ThreadAudience>): void;
  /** Wakes those who wait for packets with these GeoIDs' keys, and those who wait for anything. */
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
    tell(news, participants) {
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

/** What of the news is for each user who listens, in order. */
function newsByUser(
  news: readonly Entry[],
  participants: ReadonlyMap<string, ThreadAudience>,
  listening: ReadonlyMap<string, unknown>,
): Map<string, Entry[]> {
  const found = new Map<string, Entry[]>();
  for (const entry of news) {
    const thread = entry.threadId === null ? undefined : participants.get(entry.threadId);
    const users = entry.threadId === null ? [entry.userId] : (thread?.users ?? []);
    const audienceEntry = thread ? { ...entry, closed: thread.closed } : entry;
    for (const user of users) {
      if (user === null || !listening.has(user)) continue;
      const own = found.get(user);
      if (own) own.push(audienceEntry);
      else found.set(user, [audienceEntry]);
    }
  }
  return found;
}

function addTo<Member>(sets: Map<string, Set<Member>>, key: string, member: Member): () => void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(member));
  return () => {
    set.delete(member);
    if (set.size === 0 && sets.get(key) === set) sets.delete(key);
  };
}

/** Calls each one; those whom they add or remove meanwhile do not disturb it. */
function callAll(calls: Iterable<() => void> | undefined): void {
  for (const call of [...(calls ?? [])]) call();
}
