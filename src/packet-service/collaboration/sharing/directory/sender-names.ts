import type { FastifyBaseLogger } from 'fastify';
import type { FindNames, UserRegistry } from '../../../../platform/tokens/user-registry.ts';

/** The sender of a share or an invitation. */
interface Sent {
  fromUser: string;
  /** the user of the token that it was sent with */
  author: string | null;
}

/** Names of senders by their id, for those who received something from them. */
export type FindSenderNames = (sent: readonly Sent[]) => Promise<ReadonlyMap<string, string>>;

/**
 * Asks the user registry in this process for names. A failure gives none.
 *
 * @param registry undefined where the registry is not in this process: then nobody has a name
 */
export function registryNames(
  registry: Pick<UserRegistry, 'findNames'> | undefined,
  logger: FastifyBaseLogger,
): FindNames {
  return async ids => {
    if (!registry || ids.length === 0) return new Map();
    try {
      return await registry.findNames(ids);
    } catch (error) {
      logger.warn({ err: error }, 'could not ask the user registry for names');
      return new Map();
    }
  };
}

/**
 * Names senders, all at once. Only who has proven by a token that they are the sender is named: otherwise anybody could
 * share in another's name and read it.
 */
export function senderNames(findNames: FindNames): FindSenderNames {
  return async sent => {
    const proven = sent.filter(({ fromUser, author }) => author === fromUser);
    return findNames([...new Set(proven.map(({ fromUser }) => fromUser))]);
  };
}

/** The field with the name of a sender; none where the name is not known or the sender was not proven. */
export function fromName(names: ReadonlyMap<string, string> | undefined, { fromUser, author }: Sent) {
  const name = author === fromUser ? names?.get(fromUser) : undefined;
  return name === undefined ? {} : { from_name: name };
}
