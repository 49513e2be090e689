import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Problem } from '../../../platform/http/problems.ts';
import { SCOPES, type Scope } from '../../../platform/tokens/api-key.ts';
import type { KeyHolder, UserRegistry } from '../../../platform/tokens/user-registry.ts';
import { MAX_USER } from '../contract/schemas.ts';
import type { AskRegistry } from './registry-client.ts';

/** Limits; tests use smaller ones. */
const LIMITS = {
  /** how long the answer about a key is cached, in milliseconds */
  keptMs: 30_000,
  /** how long it is cached that a key does not count, in milliseconds */
  refusedMs: 5_000,
  /** age of an answer at which an open feed asks again, in milliseconds: it looks every 20 seconds */
  feedMs: 10_000,
  /** cached answers, at most */
  keys: 10_000,
};

/** Retry-After while the registry refuses to answer, in seconds. */
const RETRY_SECONDS = 10;

/**
 * The user of the key for programs with a SHA-256; undefined if it does not count.
 *
 * @param feed whether an open feed asks, which must end within 30 seconds of the key
 * @throws Problem unavailable if the registry cannot be reached
 */
export type FindKeyHolder = (hash: Buffer, options?: { feed: boolean }) => Promise<KeyHolder | undefined>;

/**
 * Looks keys up in the registry at USER_REGISTRY_URL, else in the one of this process, each time.
 *
 * POST {USER_REGISTRY_URL}/user/api-keys/resolve {sha256} → 200 {user_id, role, scopes, expires_at,
 * lacks_second_factor}, or 404.
 *
 * @returns undefined if there is no registry to ask
 */
export function keyHolders(
  ask: AskRegistry | undefined,
  registry: UserRegistry | undefined,
  logger: FastifyBaseLogger,
  limits: typeof LIMITS = LIMITS,
): FindKeyHolder | undefined {
  if (!ask) return registry && (hash => registry.findKeyHolder(hash));

  const resolve = async (sha256: string): Promise<KeyHolder | undefined> => {
    const { status, body } = await ask('POST', 'user/api-keys/resolve', { sha256 });
    if (status === 404) return undefined;
    const holder = status === 200 ? readHolder(body) : undefined;
    if (holder) return holder;
    logger.warn({ status }, 'the user registry gave no usable response about a key: check SERVICE_TOKEN');
    throw new Problem('key.registry_answer_unusable', {}, { retryAfter: RETRY_SECONDS });
  };

  const answers = new LRUCache<string, { holder: KeyHolder | undefined }>({
    max: limits.keys,
    ttl: limits.keptMs,
    ignoreFetchAbort: true,
    async fetchMethod(sha256, _stale, { options }) {
      const holder = await resolve(sha256);
      if (!holder) options.ttl = limits.refusedMs;
      return { holder };
    },
  });
  return async (hash, { feed } = { feed: false }) => {
    const sha256 = hash.toString('hex');
    const isOld = feed && answers.getRemainingTTL(sha256) < limits.keptMs - limits.feedMs;
    const holder = (await answers.fetch(sha256, { forceRefresh: isOld }))?.holder;
    return holder && holder.expiresAt.getTime() > Date.now() ? holder : undefined;
  };
}

/** The user that a registry's answer names; undefined if it is not usable. */
function readHolder(body: unknown): KeyHolder | undefined {
  const answer = (body ?? {}) as Record<string, unknown>;
  const { user_id: userId, role, scopes, expires_at: end } = answer;
  if (typeof userId !== 'string' || userId === '' || userId.length > MAX_USER) return undefined;
  if (userId.includes('\0') || !userId.isWellFormed() || !Array.isArray(scopes)) return undefined;
  const expiresAt = new Date(typeof end === 'string' ? end : Number.NaN);
  if (Number.isNaN(expiresAt.getTime())) return undefined;
  const known = scopes.filter((scope): scope is Scope => SCOPES.includes(scope));
  if (known.length === 0) return undefined;
  const lacksFactor = answer.lacks_second_factor === true;
  return { userId, role: typeof role === 'string' ? role : 'USER', scopes: known, expiresAt, lacksFactor };
}
