import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { newSecret, secretHash } from '../../../platform/tokens/secret.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import { type AuditEvent, audit, PROGRAM } from '../audit/audit.ts';
import { secretContext } from './sealed.ts';
import { findSecret, lockFirstStart, putSecret } from './store.ts';

const NAME = 'SERVICE_TOKEN';
const PREVIOUS_NAME = 'SERVICE_TOKEN_BEFORE';
/** How long the previous token stays valid after its replacement, in milliseconds. */
const OVERLAP_MS = 24 * 3600_000;
/** How long tokens are cached, in milliseconds. */
const CACHE_MS = 60_000;

interface ServiceTokenContext {
  pool: pg.Pool;
  box: SecretBox;
  settings: Pick<Settings, 'SERVICE_TOKEN'>;
}

/** The token with which the packet service may look up users: the configured one, or one created once and stored. */
export async function serviceToken({ pool, box, settings }: ServiceTokenContext): Promise<string> {
  if (settings.SERVICE_TOKEN) return settings.SERVICE_TOKEN;
  return transaction(pool, async database => {
    await lockFirstStart(database);
    const stored = await findSecret(database, NAME);
    if (stored) return box.open(stored.value, secretContext(NAME));
    const { secret } = newSecret();
    await putSecret(database, NAME, box.seal(secret, secretContext(NAME)), new Date());
    return secret;
  });
}

/**
 * Creates a new service token. The previous one stays valid for 24 hours, to configure external packet services.
 *
 * @param atOnce whether the previous token ends within a minute instead
 */
export async function rotateServiceToken(
  context: Omit<ServiceTokenContext, 'settings'>,
  { atOnce }: { atOnce: boolean },
): Promise<string> {
  const { pool, box } = context;
  const previous = await serviceToken({ pool, box, settings: {} });
  const { secret } = newSecret();
  const now = new Date();
  await transaction(pool, async database => {
    await lockFirstStart(database);
    const replacedAt = atOnce ? new Date(now.getTime() - OVERLAP_MS) : now;
    await putSecret(database, PREVIOUS_NAME, box.seal(previous, secretContext(PREVIOUS_NAME)), replacedAt);
    await putSecret(database, NAME, box.seal(secret, secretContext(NAME)), now);
    const event: AuditEvent = {
      action: 'ROTATE_SERVICE_TOKEN',
      entity: 'secret',
      entityId: NAME,
      details: { atOnce },
    };
    await audit(database, PROGRAM, event);
  });
  return secret;
}

/** Checks whether a text is a valid service token. The database is read once a minute. */
export function serviceTokenCheck(context: ServiceTokenContext): (token: string) => Promise<boolean> {
  let accepted: { hashes: Buffer[]; readAt: number } | undefined;
  return async token => {
    if (!accepted || performance.now() - accepted.readAt > CACHE_MS) {
      const tokens = await acceptedTokens(context);
      accepted = { hashes: tokens.map(secretHash), readAt: performance.now() };
    }
    const hash = secretHash(token);
    return accepted.hashes.map(expected => timingSafeEqual(hash, expected)).includes(true);
  };
}

async function acceptedTokens(context: ServiceTokenContext): Promise<string[]> {
  const current = await serviceToken(context);
  if (context.settings.SERVICE_TOKEN) return [current];
  const previous = await findSecret(context.pool, PREVIOUS_NAME);
  const isValid = previous?.madeAt && Date.now() - previous.madeAt.getTime() < OVERLAP_MS;
  return isValid ? [current, context.box.open(previous.value, secretContext(PREVIOUS_NAME))] : [current];
}
