import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { passingTrouble } from '../database/troubles.ts';
import { Problem } from '../http/problems.ts';
import { logStream } from './log-stream.ts';

/** Interval of log lines during an outage, in milliseconds. */
const MINUTE_MS = 60_000;
/** An outage is over after so long without a failure, in milliseconds: longer than any request waits for an answer. */
const QUIET_MS = 20_000;
const LOOK_MS = 5000;

/**
 * The program's log: one JSON object per line, with level and service by name. Transient failures are logged when
 * they begin, once a minute with their number, and when they are over; otherwise every request during an outage would
 * log the same.
 *
 * @param stream the destination; by default standard output
 * @param base what every line contains
 */
export function makeLogger(
  level: string,
  stream: DestinationStream = logStream(process.stdout.fd),
  base: Record<string, unknown> | null = null,
): Logger {
  const options: LoggerOptions = {
    level,
    base,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    hooks: { logMethod: summarizeOutages(() => logger) },
  };
  const logger: Logger = pino(options, stream);
  return logger;
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

interface Outage {
  /** absent for lines that belong to no service */
  service: unknown;
  trouble: string;
  began: number;
  last: number;
  /** when it was last logged */
  loggedAt: number;
  failures: number;
}

/** A pino hook that passes the first line about a trouble, and counts the following ones. */
function summarizeOutages(root: () => Logger): LogMethod {
  const outages = new Map<string, Outage>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const now = Date.now();
    for (const [key, outage] of outages) {
      const { service, trouble, began, last, loggedAt, failures } = outage;
      if (now - last >= QUIET_MS) {
        outages.delete(key);
        root().info({ service, trouble, failures, seconds: seconds(last - began) }, `over: ${trouble}`);
      } else if (now - loggedAt >= MINUTE_MS) {
        outage.loggedAt = now;
        root().error({ service, trouble, failures, seconds: seconds(now - began) }, `still: ${trouble}`);
      }
    }
    if (outages.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return function logMethod(args, method) {
    const trouble = troubleOf(args[0]);
    if (trouble === undefined) return method.apply(this, args);
    const now = Date.now();
    const { service } = this.bindings();
    const key = `${service} ${trouble}`;
    const open = outages.get(key);
    if (open) {
      open.failures++;
      open.last = now;
      return;
    }
    outages.set(key, { service, trouble, began: now, last: now, loggedAt: now, failures: 1 });
    timer ??= setInterval(look, LOOK_MS).unref();
    const [fields, message] = args as unknown as [object, string];
    method.apply(this, [{ ...fields, trouble }, `${message}; repetitions are counted`]);
  };
}

/** The temporary trouble that a line is about, in words; collisions are no outage. */
function troubleOf(fields: unknown): string | undefined {
  const error = (fields as { err?: unknown } | null)?.err;
  if (error === undefined || typeof fields !== 'object') return undefined;
  if (error instanceof Problem && error.code === 'unavailable')
    return error.message.replace(/; try again$/, '');
  const trouble = passingTrouble(error) ?? passingTrouble((error as Error).cause);
  return trouble?.kind === 'conflict' ? undefined : trouble?.message;
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
