import type { ToSupervisor, ToWorker } from './messages.ts';

/** The environment variable with the number of a worker. */
export const WORKER_NUMBER = 'WORKER_NUMBER';
/** How long a worker waits for the metrics of the others, in milliseconds; the supervisor waits for less. */
const COLLECTING_MS = 3000;

/** The number of this process among the workers of a supervisor, from 1; undefined if it serves alone. */
export function workerNumber(): number | undefined {
  return process.send && WORKER_NUMBER in process.env ? Number(process.env[WORKER_NUMBER]) : undefined;
}

/** The metrics of this process by service, in Prometheus' text format. */
const sources = new Map<string, () => Promise<string>>();
const collecting = new Map<number, (texts: string[]) => void>();
let collections = 0;

/** Sends the supervisor a message; without one, or while it is gone, nothing happens. */
export function sendToSupervisor(message: ToSupervisor): void {
  if (process.connected) process.send?.(message);
}

/**
 * A worker whose supervisor has been killed ends at once as after the kill of a single process, so that it can be started again.
 *
 * @param stop called with the number of signals that the supervisor has got
 */
export function listenToSupervisor(stop: (level: number) => void): void {
  process.on('disconnect', () => process.exit(1));
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') stop(message.level);
    else if (message.kind === 'collected') collecting.get(message.id)?.(message.texts);
    else if (message.kind === 'metrics') answer(message);
  });
}

async function answer({ id, service }: Extract<ToWorker, { kind: 'metrics' }>): Promise<void> {
  const text = await (sources.get(service)?.() ?? '');
  sendToSupervisor({ kind: 'metrics', id, text });
}

/** Lets the other workers ask for the metrics of a service; returns a function that ends it. */
export function offerMetrics(service: string, metrics: () => Promise<string>): () => void {
  sources.set(service, metrics);
  return () => {
    sources.delete(service);
  };
}

/** The metrics that the other workers and the supervisor have of a service; without those that do not answer in time. */
export async function metricsOfOthers(service: string): Promise<string[]> {
  if (!process.connected) return [];
  const id = collections++;
  const { promise, resolve } = Promise.withResolvers<string[]>();
  collecting.set(id, resolve);
  const timer = setTimeout(resolve, COLLECTING_MS, []);
  sendToSupervisor({ kind: 'collect', id, service });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    collecting.delete(id);
  }
}
