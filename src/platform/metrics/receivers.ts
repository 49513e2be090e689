import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Health, HealthDetail } from '../http/health.ts';
import type { Server } from '../http/server.ts';
import { findRetries } from '../jobs/store.ts';
import { mailServerOf } from '../mail/mail.ts';
import { findMailOutcomes } from '../mail/outcomes-store.ts';
import type { Settings } from '../settings/settings.ts';
import { sampled } from './sampled.ts';

/** The receiver of a queue's jobs. */
export interface Receiver {
  /** the name of the queue */
  queue: 'mail' | 'webhook';
  /** such as `the mail server mail.example:587`, without credentials */
  label: string;
  /** the setting that names it */
  setting: 'SMTP_URL' | 'WEBHOOK_URL';
}

/** State of a receiver. */
export interface ReceiverState extends Receiver {
  /** since when it takes nothing, how many deliveries wait for it, and why; absent if it takes what it gets */
  failing?: { since: Date; deliveries: number; error: string };
}

/** The receivers that the settings name. */
export function receiversOf({
  SMTP_URL,
  WEBHOOK_URL,
}: Pick<Settings, 'SMTP_URL' | 'WEBHOOK_URL'>): Receiver[] {
  const server = mailServerOf({ SMTP_URL });
  return [
    ...(server ? [{ queue: 'mail', label: `the mail server ${server}`, setting: 'SMTP_URL' } as const] : []),
    ...(WEBHOOK_URL
      ? [
          {
            queue: 'webhook',
            label: `the webhook receiver ${new URL(WEBHOOK_URL).host}`,
            setting: 'WEBHOOK_URL',
          } as const,
        ]
      : []),
  ];
}

/**
 * Looks whether a receiver takes what it gets. It does not if deliveries are tried again and none has succeeded since the
 * last attempt: a receiver that refuses one of many is none of the operator's business.
 *
 * @param pool of a service
 * @param schema of its job queue
 */
export async function lookAtReceiver(
  pool: pg.Pool,
  schema: string,
  receiver: Receiver,
): Promise<ReceiverState> {
  const retries = await findRetries(pool, schema, receiver.queue);
  if (!retries) return receiver;
  const { jobs, since, triedAt, error } = retries;
  // Jobs of mails are also done if there was nothing to send.
  const goodAt = receiver.queue === 'mail' ? (await findMailOutcomes(pool)).sentAt : retries.doneAt;
  if (goodAt && goodAt >= triedAt) return receiver;
  return { ...receiver, failing: { since, deliveries: jobs, error: error ?? 'the attempt was broken off' } };
}

/** The fault of a receiver in a sentence; undefined if it has none. */
export function troubleOf({ label, failing }: ReceiverState): string | undefined {
  if (!failing) return undefined;
  const { since, deliveries, error } = failing;
  const wait = deliveries === 1 ? '1 delivery waits' : `${deliveries} deliveries wait`;
  return `${wait} for ${label}, since ${since.toISOString()}: ${error}`;
}

/**
 * Adds a detail to /health/ready for each receiver, and logs when one begins to take nothing, and when it takes something
 * again.
 *
 * @param schema of the job queue
 */
export function watchReceivers(
  app: Server,
  settings: Pick<Settings, 'SMTP_URL' | 'WEBHOOK_URL'>,
  {
    health,
    pool,
    schema,
    queues,
  }: { health: Health; pool: pg.Pool; schema: string; queues: readonly string[] },
): void {
  for (const receiver of receiversOf(settings).filter(({ queue }) => queues.includes(queue))) {
    const logTransition = transitions(receiver, app.log);
    const state = sampled(app, async () => {
      const current = await lookAtReceiver(pool, schema, receiver);
      logTransition(current);
      return current;
    });
    health.addDetail(() => {
      const known = state();
      return known && detailOf(known);
    });
  }
}

function detailOf(state: ReceiverState): HealthDetail {
  const message = troubleOf(state);
  const { queue: name, label } = state;
  return message === undefined
    ? { name, status: 'OK', message: label }
    : { name, status: 'FAILING', message };
}

function transitions({ label }: Receiver, logger: FastifyBaseLogger): (state: ReceiverState) => void {
  let isFailing = false;
  return ({ failing }) => {
    if (failing && !isFailing) {
      const { since, deliveries, error: reason } = failing;
      logger.error({ since, deliveries, reason }, `${label} takes nothing; deliveries are tried again`);
    }
    if (!failing && isFailing) logger.info(`${label} takes deliveries again`);
    isFailing = failing !== undefined;
  };
}
