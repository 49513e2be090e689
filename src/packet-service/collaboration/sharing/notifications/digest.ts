import type pg from 'pg';
import { type Database, transaction } from '../../../../platform/database/database.ts';
import type { Mailer } from '../../../../platform/mail/mail.ts';
import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { findDigest, listDigest, lockDigest, noteDigestFailure, settleDigest } from './digest-store.ts';
import type { mailTexts, Reader } from './mails.ts';

/** What digests need. */
export interface Digesting {
  pool: pg.Pool;
  mailer: Mailer;
  /** Which of these shares or invitations (uuid form) still wait for an answer. */
  findUnanswered: (
    database: Database,
    type: 'share.created' | 'invitation.sent',
    shareIds: readonly string[],
  ) => Promise<ReadonlySet<string>>;
  findReader: (address: string) => Promise<Reader>;
  /** Queues the digest of the address to which a notification goes, for when it is due. */
  queueDigest: (database: Database, notificationId: string) => Promise<void>;
}

/**
 * Mails what waits for the digest of an address: how many shares there are, beyond those that were mailed one by one.
 * Those that were answered meanwhile do not count; without others, nothing is mailed.
 *
 * @param notificationId one of those that wait for it
 */
export async function mailDigest(
  digesting: Digesting,
  notificationId: string,
  texts: ReturnType<typeof mailTexts>,
  signal: AbortSignal,
): Promise<void> {
  const { pool, mailer, findUnanswered, findReader } = digesting;
  const waiting = await listDigest(pool, notificationId);
  const [first] = waiting;
  if (!first) return;
  const { address, userId } = first;
  const shareIds = waiting.map(({ shareId }) => shareId);
  const unanswered = await findUnanswered(pool, 'share.created', shareIds);
  const idsOf = (isUnanswered: boolean) =>
    waiting
      .filter(({ shareId }) => unanswered.has(shareId) === isUnanswered)
      .map(item => item.notificationId);
  const [open, over] = [idsOf(true), idsOf(false)];
  await settleDigest(pool, over, 'obsolete', new Date());
  if (open.length > 0) {
    const text = texts.sharesDigest(open.length, userId, await findReader(address));
    try {
      await mailer.send({ id: uuidToUlid(notificationId), to: address, ...text }, signal);
    } catch (error) {
      await noteDigestFailure(pool, open, (error as Error).message, new Date());
      throw error;
    }
  }
  await endDigest(digesting, address, open, 'delivered');
}

/** Gives up what waits for the digest to which a notification belongs; returns how many notifications. */
export async function giveUpDigest(digesting: Digesting, notificationId: string): Promise<number> {
  const waiting = await listDigest(digesting.pool, notificationId);
  const [first] = waiting;
  if (!first) return 0;
  const ids = waiting.map(item => item.notificationId);
  await endDigest(digesting, first.address, ids, 'dead');
  return ids.length;
}

/** Records the end of a digest. What has come for its address meanwhile waits for the next. */
async function endDigest(
  { pool, queueDigest }: Pick<Digesting, 'pool' | 'queueDigest'>,
  address: string,
  ids: readonly string[],
  status: 'delivered' | 'dead',
): Promise<void> {
  await transaction(pool, async database => {
    await lockDigest(database, address);
    await settleDigest(database, ids, status, new Date());
    const next = await findDigest(database, address);
    if (next !== undefined) await queueDigest(database, next);
  });
}
