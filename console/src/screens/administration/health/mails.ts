/** The state of email delivery, of both services together. */
export interface MailState {
  /** the last success and the last failure */
  sentAt?: string | undefined;
  failedAt?: string | undefined;
  /** why it failed, in English */
  lastError?: string | undefined;
  waiting: number;
  givenUp: number;
}

/** The state of email delivery of one service. */
type ServiceMails = Omit<MailState, 'waiting'> & { queues: readonly { queue: string; waiting: number }[] };

/** Combines the states of the services: the latest times, and the sums. */
export function mailState(services: readonly ServiceMails[]): MailState {
  const latest = (times: readonly (string | undefined)[]) =>
    times
      .filter(time => time !== undefined)
      .sort()
      .at(-1);
  const failedAt = latest(services.map(service => service.failedAt));
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return {
    sentAt: latest(services.map(service => service.sentAt)),
    failedAt,
    lastError: services.find(service => failedAt !== undefined && service.failedAt === failedAt)?.lastError,
    waiting: sum(services.map(({ queues }) => queues.find(({ queue }) => queue === 'mail')?.waiting ?? 0)),
    givenUp: sum(services.map(({ givenUp }) => givenUp)),
  };
}

/** The headline: the last email failed, some failed for good, none was sent yet, or all is well. */
export function mailFinding({
  sentAt,
  failedAt,
  givenUp,
}: MailState): 'failing' | 'givenUp' | 'none' | 'good' {
  if (failedAt !== undefined && (sentAt === undefined || failedAt > sentAt)) return 'failing';
  if (givenUp > 0) return 'givenUp';
  return sentAt === undefined ? 'none' : 'good';
}
