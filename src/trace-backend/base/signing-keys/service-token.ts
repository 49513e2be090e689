import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { newSecret, secretHash } from '../../../platform/tokens/secret.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import { type AuditEvent, audit, PROGRAM } from '../audit/audit.ts';
import { secretPlace } from './sealed.ts';
import { findSecret, lockFirstStart, putSecret } from './store.ts';

const NAME = 'SERVICE_TOKEN';
const BEFORE = 'SERVICE_TOKEN_BEFORE';
/** How long the previous token stays valid after its replacement, in milliseconds. */
const OVERLAP_MS = 24 * 3600_000;
/** How long tokens are cached, in milliseconds. */
const KEEP_MS = 60_000;

export interface ServiceTokenContext {
  pool: pg.Pool;
  box: SecretBox;
  settings: Pick<Settings, 'SERVICE_TOKEN'>;
}

/** The token with which the packet service may look up users: the configured one, or one created once and stored. */
export async function serviceToken({ pool, box, settings }: ServiceTokenContext): Promise<string> {
  if (settings.SERVICE_TOKEN) return settings.SERVICE_TOKEN;
  return transaction(pool, async database => {
    await lockFirstStart(database);
    const kept = await findSecret(database, NAME);
    if (kept) return box.open(kept.value, secretPlace(NAME));
    const { secret } = newSecret();
    await putSecret(database, NAME, box.seal(secret, secretPlace(NAME)), new Date());
    return secret;
  });
}

/**
 * Creates a new service token. The previous one stays valid for 24 hours, to configure external packet services.
 *
 * @param atOnce whether the previous one ends within a minute instead
 */
export async function rotateServiceToken(
  context: Omit<ServiceTokenContext, 'settings'>,
  { atOnce }: { atOnce: boolean },
): Promise<string> {
  const { pool, box } = context;
  const before = await serviceToken({ pool, box, settings: {} });
  const { secret } = newSecret();
  const now = new Date();
  await transaction(pool, async database => {
    await lockFirstStart(database);
    const replacedAt = atOnce ? new Date(now.getTime() - OVERLAP_MS) : now;
    await putSecret(database, BEFORE, box.seal(before, secretPlace(BEFORE)), replacedAt);
    await putSecret(database, NAME, box.seal(secret, secretPlace(NAME)), now);
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
export function serviceTokenCheck(context: ServiceTokenContext): (given: string) => Promise<boolean> {
  let accepted: { hashes: Buffer[]; readAt: number } | undefined;
  return async given => {
    if (!accepted || performance.now() - accepted.readAt > KEEP_MS) {
      const tokens = await acceptedTokens(context);
      accepted = { hashes: tokens.map(secretHash), readAt: performance.now() };
    }
    const hash = secretHash(given);
    return accepted.hashes.map(expected => timingSafeEqual(hash, expected)).includes(true);
  };
}

async function acceptedTokens(context: ServiceTokenContext): Promise<string[]> {
  const present = await serviceToken(context);
  if (context.settings.SERVICE_TOKEN) return [present];
  const before = await findSecret(context.pool, BEFORE);
  const isGood = before?.madeAt && Date.now() - before.madeAt.getTime() < OVERLAP_MS;
  return isGood ? [present, context.box.open(before.value, secretPlace(BEFORE))] : [present];
}
