import type { Server } from '../platform/http/server.ts';

type Stop = () => unknown;

/** Stops parts of the service with its server: first what holds requests open, then what works, then what follows it. */
export function stopWith(
  app: Server,
  {
    listeners,
    work,
    log,
    connections,
  }: { listeners: Stop[]; work: Stop[]; log: Stop[]; connections: () => Promise<void> },
): void {
  const stopAll = (stops: Stop[]) => Promise.all(stops.map(stop => stop()));
  app.addHook('preClose', async () => {
    await stopAll(listeners);
  });
  app.addHook('onClose', async () => {
    await stopAll(work);
    await stopAll(log);
    await connections();
  });
}
