import type pg from 'pg';
import { type Database, transaction } from '../../../../platform/database/database.ts';
import type { Mailer } from '../../../../platform/mail/mail.ts';
import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import {
  type Digested,
  hasDigest,
  listDigest,
  lockDigest,
  noteDigestFailure,
  settleDigest,
} from './digest-store.ts';
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
  /** Queues the digest of an address, for when it is due. */
  queueDigest: (database: Database, address: string) => Promise<void>;
}

/**
 * Mails what waits for the digest of an address: how many shares there are, beyond those that were mailed one by one.
 * Those that were answered meanwhile do not count; without others, nothing is mailed.
 */
export async function mailDigest(
  digesting: Digesting,
  address: string,
  texts: ReturnType<typeof mailTexts>,
  signal: AbortSignal,
): Promise<void> {
  const { pool, mailer, findUnanswered, findReader } = digesting;
  const waiting = await listDigest(pool, address);
  if (waiting.length === 0) return;
  const shareIds = waiting.map(({ shareId }) => shareId);
  const unanswered = await findUnanswered(pool, 'share.created', shareIds);
  const open = waiting.filter(({ shareId }) => unanswered.has(shareId));
  const over = waiting.filter(({ shareId }) => !unanswered.has(shareId));
  await settleDigest(pool, idsOf(over), 'obsolete', new Date());
  const [first] = open;
  if (first) {
    const text = texts.sharesDigest(open.length, first.userId, await findReader(address));
    try {
      await mailer.send({ id: uuidToUlid(first.notificationId), to: address, ...text }, signal);
    } catch (error) {
      await noteDigestFailure(pool, idsOf(open), (error as Error).message, new Date());
      throw error;
    }
  }
  await endDigest(digesting, address, idsOf(open), 'delivered');
}

/** Gives up what waits for the digest of an address; returns how many notifications. */
export async function giveUpDigest(digesting: Digesting, address: string): Promise<number> {
  const waiting = await listDigest(digesting.pool, address);
  if (waiting.length > 0) await endDigest(digesting, address, idsOf(waiting), 'dead');
  return waiting.length;
}

const idsOf = (waiting: readonly Digested[]) => waiting.map(({ notificationId }) => notificationId);

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
    if (await hasDigest(database, address)) await queueDigest(database, address);
  });
}
