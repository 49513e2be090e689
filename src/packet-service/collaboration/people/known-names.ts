import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import type { FindNames, UserRegistry } from '../../../platform/tokens/user-registry.ts';
import { type KnowingCaller, seesEveryone } from '../../core/access/caller.ts';

/** Selects the users who have shared their name with another user; each function asks one feature. */
export interface Meetings {
  /** those who have shared something with the user */
  findSharers: FindMet;
  /** those who have opened a thread that the user takes part in */
  findOpeners: FindMet;
  /** those who have written in such a thread lately */
  findWriters: FindMet;
}
export type FindMet = (database: Database, userId: string, ids: readonly string[]) => Promise<string[]>;

/** Finds the names of users that a caller can see, by id. */
export type FindKnownNames = (
  caller: KnowingCaller,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, string>>;

/** Sources of names. */
interface Sources extends Meetings {
  pool: pg.Pool;
  /** undefined where the user registry is in another process: then nobody has a name */
  registry: Pick<UserRegistry, 'findColleagues'> | undefined;
  findNames: FindNames;
}

/**
 * Names those whom a caller may know: the caller, colleagues, and those who have shared something with the caller,
 * opened a thread that the caller takes part in, or written there. Administrators know everyone, and callers without a
 * token nobody.
 */
export function knownNames({ pool, registry, findNames, ...meetings }: Sources): FindKnownNames {
  return async (caller, ids) => {
    const { user } = caller;
    if (user === undefined || registry === undefined || ids.length === 0) return new Map();
    if (seesEveryone(caller)) return findNames(ids);
    const known = new Set([user, ...(await registry.findColleagues(user))]);
    for (const find of Object.values(meetings)) {
      const unknown = ids.filter(id => !known.has(id));
      if (unknown.length === 0) break;
      for (const id of await find(pool, user, unknown)) known.add(id);
    }
    return findNames(ids.filter(id => known.has(id)));
  };
}
