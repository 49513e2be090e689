import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../../platform/postgres/database.ts';
import type { UserRegistry } from '../../../platform/tokens/user-registry.ts';
import { findHidden } from './store.ts';

/** Who sent a share or an invitation. */
interface Sent {
  fromUser: string;
  /** the user of the token that it was sent with */
  author: string | null;
}

/** Names of senders by their id, for those who received something from them. */
export type FindSenderNames = (sent: readonly Sent[]) => Promise<ReadonlyMap<string, string>>;

/**
 * Asks the user registry in this process for the names of senders, all at once. Only who has proven by a token that they
 * are the sender is named: otherwise anybody could share in another's name and read it. A failure gives no names.
 *
 * @param registry undefined where the registry is elsewhere: then nobody has a name
 */
export function senderNames(
  registry: Pick<UserRegistry, 'findNames'> | undefined,
  logger: FastifyBaseLogger,
): FindSenderNames {
  return async sent => {
    const proven = sent.filter(({ fromUser, author }) => author === fromUser);
    const ids = [...new Set(proven.map(({ fromUser }) => fromUser))];
    if (!registry || ids.length === 0) return new Map();
    try {
      return await registry.findNames(ids);
    } catch (error) {
      logger.warn({ err: error }, 'the user registry could not be asked for names');
      return new Map();
    }
  };
}

/**
 * Names of users by their ids, for those who take part in a thread with them: only of users who want to be found, because
 * anybody can be added to a thread by number. A failure gives no names.
 *
 * @param registry undefined where the registry is elsewhere: then nobody has a name
 */
export function discoverableNames(
  registry: Pick<UserRegistry, 'findDiscoverableNames'> | undefined,
  database: Database,
  logger: FastifyBaseLogger,
): (ids: readonly string[]) => Promise<ReadonlyMap<string, string>> {
  return async ids => {
    if (!registry || ids.length === 0) return new Map();
    try {
      const names = new Map(await registry.findDiscoverableNames(ids));
      // A no in the directory counts, too.
      for (const id of await findHidden(database, [...names.keys()])) names.delete(id);
      return names;
    } catch (error) {
      logger.warn({ err: error }, 'names could not be looked up');
      return new Map();
    }
  };
}

/** The field with the name of a sender; none where the name is not known or the sender was not proven. */
export function fromName(names: ReadonlyMap<string, string> | undefined, { fromUser, author }: Sent) {
  const name = author === fromUser ? names?.get(fromUser) : undefined;
  return name === undefined ? {} : { from_name: name };
}
