import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { tryLock } from './file-lock.ts';
import { rotateLog } from './launch.ts';
import { readPidFile } from './postmaster.ts';
import { asRefusal } from './refusals.ts';
import { connect, type ServerLease } from './supervisor.ts';

export interface Watch {
  /** The supervisor's session at this time. */
  control(): pg.Client;
  /** Ends the watch and leaves the server as it is. */
  end(): Promise<void>;
}

const longestPauseMilliseconds = 30_000;
/**
 * A server that ran this long was healthy, and is restarted at once when it ends. Restarts of one that ends sooner
 * are delayed, so that they do not keep the machine busy.
 */
const steadyMilliseconds = 2000;
const rotationMilliseconds = 60_000;

/**
 * Connects to the server, starting it if need be, and does so again whenever the connection is lost. The lost
 * connection reports the server's death: at once, to every process that shares it, and also if its process is not
 * visible. One of them starts it again; the others find it running.
 */
export async function watchServer(lease: ServerLease): Promise<Watch> {
  const { logger } = lease;
  const { signal, abort } = endable();
  let control = await connect(lease, signal);
  let server = serverOf(lease);
  let since = Date.now();
  let failures = 0;
  let recovery = Promise.resolve();

  const listen = () => {
    control.once('end', () => {
      if (!signal.aborted) recovery = recover();
    });
  };

  const recover = async () => {
    const lost = Date.now();
    // A crashing session ends all others; the server continues and needs no restart.
    const goesOn = server !== undefined && serverOf(lease) === server;
    if (goesOn || lost - since > steadyMilliseconds) failures = 0;
    logger.error('lost PostgreSQL; reconnecting, or restarting it if it has ended');
    while (!signal.aborted) {
      if (failures > 0) await pause(failures, lease, signal);
      failures++;
      try {
        control = await connect(lease, signal);
        server = serverOf(lease);
        since = Date.now();
        listen();
        logger.info({ milliseconds: since - lost }, 'PostgreSQL is back');
        return;
      } catch (error) {
        if (!signal.aborted)
          logger.error({ err: asRefusal(lease.layout.dataDir, error) }, 'still no PostgreSQL');
      }
    }
  };

  listen();
  const rotation = setInterval(() => rotateLogInTurn(lease), rotationMilliseconds).unref();
  return {
    control: () => control,
    end: async () => {
      abort();
      clearInterval(rotation);
      await recovery;
      await control.end().catch(() => {});
    },
  };
}

/** The process of the running server, if visible. */
function serverOf({ layout }: ServerLease): number | undefined {
  try {
    const file = readPidFile(layout);
    return file.is === 'alive' ? file.pid : undefined;
  } catch {
    return undefined;
  }
}

function endable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** One second after the first failure, then doubled each time. */
async function pause(failures: number, { logger }: ServerLease, signal: AbortSignal): Promise<void> {
  const milliseconds = Math.min(1000 * 2 ** (failures - 1), longestPauseMilliseconds);
  logger.warn({ milliseconds }, 'PostgreSQL was lost again within a short time; pausing before the restart');
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}

function rotateLogInTurn(lease: ServerLease): void {
  try {
    const lock = tryLock(lease.layout.transitionLock, 'exclusive');
    if (lock === undefined) return;
    try {
      rotateLog(lease.layout);
    } finally {
      lock.release();
    }
  } catch (error) {
    lease.logger.warn({ err: error }, `${lease.layout.log} cannot be shortened`);
  }
}
