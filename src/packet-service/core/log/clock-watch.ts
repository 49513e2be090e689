import type { FastifyBaseLogger } from 'fastify';
import { Gauge, type Registry } from 'prom-client';
import type { HealthDetail } from '../../../platform/http/health.ts';

/** How far a clock may be behind before a warning, in milliseconds: processes' clocks differ a little. */
const TOLERANCE_MS = 10_000;

/** Whether this process's clock is behind the clocks of earlier writers. */
export interface ClockWatch {
  /** Sets the latest clock time of an appending process, in Unix milliseconds; null if not known. */
  seen(latest: number | null): void;
  /** The detail of /health/ready. */
  detail(): HealthDetail;
}

/**
 * A clock that ran ahead leaves rows with future times: until then, new messages are listed before them. Or this
 * process's clock is behind. Either way an operator should know.
 */
export function clockWatch(
  logger: FastifyBaseLogger,
  metrics: Registry,
  now: () => number = Date.now,
): ClockWatch {
  let latest: number | null = null;
  let isReported = false;
  const behindMs = () => (latest === null ? 0 : Math.max(0, latest - now()));
  const isBehind = () => behindMs() > TOLERANCE_MS;

  new Gauge({
    name: 'clock_behind_newest_row_seconds',
    help: "how far this process's clock is behind the newest time in the log; 0 if it is not behind",
    registers: [metrics],
    collect() {
      this.set(isBehind() ? behindMs() / 1000 : 0);
    },
  });

  return {
    seen(time) {
      latest = time;
      if (isBehind() === isReported) return;
      isReported = isBehind();
      if (isReported) logger.warn({ newest: new Date(time as number) }, message());
      else logger.info('the clock is no longer behind the newest row');
    },
    detail: () =>
      isBehind() ? { name: 'clock', status: 'BEHIND', message: message() } : { name: 'clock', status: 'OK' },
  };

  function message(): string {
    const seconds = Math.round(behindMs() / 1000);
    return (
      `the clock of this machine is ${seconds} seconds behind the newest row: it is wrong, or another one ran ` +
      'ahead; until it has caught up, new messages are listed before older ones'
    );
  }
}
