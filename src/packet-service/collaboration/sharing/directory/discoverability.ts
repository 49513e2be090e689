import type { FastifyBaseLogger } from 'fastify';
import type { UserRegistry } from '../../../../platform/tokens/user-registry.ts';
import type { AskRegistry } from '../../../core/access/registry-client.ts';
import { MAX_USER } from '../../../core/contract/schemas.ts';
import type { Holder, Registered } from './holder.ts';

/**
 * Asks the user registry who has a contact, whatever the directory knows of it, so that known and unknown contacts take
 * the same time. A failure is no error: the sender only learns that the user cannot be found.
 */
export type LookUpHolder = (contact: string) => Promise<Registered>;

const NOBODY: Registered = { holder: undefined, isAnswered: true };
/** The result if the registry could not be reached. */
export const NO_ANSWER: Registered = { holder: undefined, isAnswered: false };

/**
 * GET {USER_REGISTRY_URL}/discoverability?contact=… → 200 {user_id, discoverable}, or 404.
 *
 * @param ask the registry that the settings name
 * @param registry the registry in this process, used if the settings name no other
 */
export function registryLookup(
  ask: AskRegistry | undefined,
  logger: FastifyBaseLogger,
  registry?: UserRegistry,
): LookUpHolder {
  if (!ask) return registry ? ownRegistryLookup(registry, logger) : async () => NOBODY;
  return async contact => {
    try {
      const { status, body } = await ask('GET', `discoverability?${new URLSearchParams({ contact })}`);
      if (status === 404) return NOBODY;
      const holder = status === 200 ? readHolder(body) : undefined;
      if (holder) return { holder, isAnswered: true };
      logger.warn({ status }, 'the user registry gave no usable response about a contact');
    } catch (error) {
      logger.warn({ err: error }, 'could not ask the user registry about a contact');
    }
    return NO_ANSWER;
  };
}

function ownRegistryLookup(registry: UserRegistry, logger: FastifyBaseLogger): LookUpHolder {
  return async contact => {
    try {
      return { holder: readHolder(await registry.findHolder(contact)), isAnswered: true };
    } catch (error) {
      logger.warn({ err: error }, 'could not ask the user registry about a contact');
      return NO_ANSWER;
    }
  };
}

function readHolder(body: unknown): Holder | undefined {
  const { user_id: userId, discoverable } = (body ?? {}) as Record<string, unknown>;
  if (typeof userId !== 'string' || userId === '' || userId.length > MAX_USER) return undefined;
  if (typeof discoverable !== 'boolean') return undefined;
  return { userId, discoverable };
}
