import type { FastifyBaseLogger } from 'fastify';
import type { UserRegistry } from '../../../platform/tokens/user-registry.ts';

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

/** The field with the name of a sender; none where the name is not known or the sender was not proven. */
export function fromName(names: ReadonlyMap<string, string> | undefined, { fromUser, author }: Sent) {
  const name = author === fromUser ? names?.get(fromUser) : undefined;
  return name === undefined ? {} : { from_name: name };
}
