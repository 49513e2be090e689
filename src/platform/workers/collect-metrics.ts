import type { ChildProcess } from 'node:child_process';
import type { ToSupervisor, ToWorker } from './messages.ts';

/** How long the metrics of a worker are waited for, in milliseconds. */
const PATIENCE_MS = 1500;

/** Passes metrics between workers, so that each can answer with those of all. */
export interface MetricsExchange {
  take(from: ChildProcess, message: Exclude<ToSupervisor, { kind: 'ready' }>): void;
  /** Counts a worker that has been replaced. */
  restarted(): void;
}

interface Collection {
  texts: string[];
  /** workers that have not answered yet */
  missing: number;
  done: () => void;
}

/** @param workers those that run */
export function collectMetrics(workers: () => ChildProcess[]): MetricsExchange {
  const open = new Map<number, Collection>();
  let collections = 0;
  let restarts = 0;

  function collect(asker: ChildProcess, { id, service }: Extract<ToSupervisor, { kind: 'collect' }>): void {
    const own = collections++;
    const others = workers().filter(worker => worker !== asker && worker.connected);
    const timer = setTimeout(done, PATIENCE_MS);
    const collection = { texts: [ownMetrics(service)], missing: others.length, done };
    function done(): void {
      clearTimeout(timer);
      open.delete(own);
      send(asker, { kind: 'collected', id, texts: collection.texts });
    }
    open.set(own, collection);
    for (const worker of others) send(worker, { kind: 'metrics', id: own, service });
    if (others.length === 0) done();
  }

  function ownMetrics(service: string): string {
    const metric = (name: string, type: string, help: string, value: number) =>
      `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name}{service="${service}"} ${value}\n`;
    return [
      metric('workers', 'gauge', 'processes that the supervisor has', workers().length),
      metric('worker_restarts_total', 'counter', 'processes that ended and were replaced', restarts),
    ].join('\n');
  }

  return {
    take(from, message) {
      if (message.kind === 'collect') return collect(from, message);
      const collection = open.get(message.id);
      if (!collection) return;
      collection.texts.push(message.text);
      collection.missing--;
      if (collection.missing === 0) collection.done();
    },
    restarted() {
      restarts++;
    },
  };
}

/** A worker that dies at this moment gets nothing. */
function send(worker: ChildProcess, message: ToWorker): void {
  if (worker.connected) worker.send(message, () => {});
}
