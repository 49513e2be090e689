/** How sending mails goes, of both services together. */
export interface MailState {
  /** when one was last sent, and when one could last not be */
  sentAt?: string | undefined;
  failedAt?: string | undefined;
  /** why, in English */
  lastError?: string | undefined;
  waiting: number;
  givenUp: number;
}

/** What one service says of its mails. */
type ServiceMails = Omit<MailState, 'waiting'> & { queues: readonly { queue: string; waiting: number }[] };

/** The state of both services: their latest moments, and their sums. */
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

/** What is to be said of it first: the last mail failed, some were given up, none was sent yet, or all is well. */
export function mailFinding({
  sentAt,
  failedAt,
  givenUp,
}: MailState): 'failing' | 'givenUp' | 'none' | 'good' {
  if (failedAt !== undefined && (sentAt === undefined || failedAt > sentAt)) return 'failing';
  if (givenUp > 0) return 'givenUp';
  return sentAt === undefined ? 'none' : 'good';
}
