import type { FastifyBaseLogger } from 'fastify';
import type { UserRegistry } from '../../../../platform/tokens/user-registry.ts';

/**
 * Asks the user registry in this process who reads mails to an address. A failure means unknown.
 *
 * @param registry undefined where the registry is not in this process: then nothing is known of anybody
 */
export function registryReaders(
  registry: Pick<UserRegistry, 'findReader'> | undefined,
  logger: FastifyBaseLogger,
): (address: string) => Promise<{ language?: string; account?: 'active' | 'waiting' | 'none' }> {
  return async address => {
    if (!registry) return {};
    try {
      const reader = await registry.findReader(address);
      if (!reader) return { account: 'none' };
      return { language: reader.language, account: reader.isActive ? 'active' : 'waiting' };
    } catch (error) {
      logger.warn({ err: error }, 'could not ask the user registry for the recipient of an email');
      return {};
    }
  };
}
