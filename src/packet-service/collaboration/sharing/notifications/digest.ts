import type pg from 'pg';
import { type Database, transaction } from '../../../../platform/database/database.ts';
import { attempt, type Outbox } from '../../../../platform/mail/outbox.ts';
import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import type { DeliveryJob } from './channels.ts';
import { type Digested, hasDigest, inDigest, listDigest, lockDigest } from './digest-store.ts';
import type { mailTexts, Reader } from './mails.ts';
import { type Delivery, deliveries } from './store.ts';

/** How long a digest collects what else comes for its address, in seconds. */
const DIGEST_SECONDS = 3600;

/** The dependencies of digests. */
export interface Digesting {
  pool: pg.Pool;
  outbox: Outbox<DeliveryJob>;
  /** Which of these shares or invitations (uuid form) still wait for an answer. */
  findUnanswered: (
    database: Database,
    type: 'share.created' | 'invitation.sent',
    shareIds: readonly string[],
  ) => Promise<ReadonlySet<string>>;
  findReader: (address: string) => Promise<Reader>;
}

/** The addresses of deliveries in digests, each once. */
export function digestedAddresses(some: readonly Delivery[]): string[] {
  const addresses = some.flatMap(({ inDigest, address }) => (inDigest && address !== null ? [address] : []));
  return [...new Set(addresses)].sort();
}

/**
 * Stores deliveries, and queues the digests of addresses for when they are due, unless they are on their way.
 *
 * @param store stores the deliveries
 */
export async function withDigests(
  outbox: Outbox<DeliveryJob>,
  database: Database,
  some: readonly Delivery[],
  store: () => Promise<void>,
): Promise<void> {
  const added: string[] = [];
  for (const address of digestedAddresses(some)) {
    await lockDigest(database, address);
    if (!(await hasDigest(database, address))) added.push(address);
  }
  await store();
  await queueDigests(outbox, database, added);
}

const queueDigests = (outbox: Outbox<DeliveryJob>, database: Database, addresses: readonly string[]) =>
  outbox.send(
    database,
    addresses.map(address => ({ kind: 'digest', address })),
    DIGEST_SECONDS,
  );

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
  const { pool, outbox, findUnanswered, findReader } = digesting;
  const waiting = await listDigest(pool, address);
  if (waiting.length === 0) return;
  const shareIds = waiting.map(({ shareId }) => shareId);
  const unanswered = await findUnanswered(pool, 'share.created', shareIds);
  const open = waiting.filter(({ shareId }) => unanswered.has(shareId));
  const over = waiting.filter(({ shareId }) => !unanswered.has(shareId));
  await deliveries.settle(pool, inDigest(over), 'obsolete', new Date());
  const end = () => endDigest(digesting, address, open, 'delivered');
  const [first] = open;
  if (!first) return end();
  const text = texts.sharesDigest(open.length, first.userId, await findReader(address));
  const mail = { id: uuidToUlid(first.notificationId), to: address, ...text };
  await attempt(pool, deliveries, inDigest(open), () => outbox.mailer.send(mail, signal), end);
}

/** Gives up what waits for the digest of an address; returns how many notifications. */
export async function giveUpDigest(digesting: Digesting, address: string): Promise<number> {
  const waiting = await listDigest(digesting.pool, address);
  if (waiting.length > 0) await endDigest(digesting, address, waiting, 'dead');
  return waiting.length;
}

/** Records the end of a digest. What has come for its address meanwhile waits for the next. */
async function endDigest(
  { pool, outbox }: Digesting,
  address: string,
  ended: readonly Digested[],
  status: 'delivered' | 'dead',
): Promise<void> {
  await transaction(pool, async database => {
    await lockDigest(database, address);
    await deliveries.settle(database, inDigest(ended), status, new Date());
    if (await hasDigest(database, address)) await queueDigests(outbox, database, [address]);
  });
}
