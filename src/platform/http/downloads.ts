import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallerSlots } from '../limits/caller-slots.ts';
import { processSlots } from '../limits/slots.ts';
import { type CallerLimit, freeAtEnd, slotsOfCallers } from './caller-slots.ts';
import { Problem } from './problems.ts';
import { type ReadingLook, type ReadingSpeed, readingMeter } from './reading-speed.ts';
import type { Server } from './server.ts';

/** How long a stopping service lets downloads go on, in milliseconds: less than it waits for everything. */
const STOP_PATIENCE_MS = 10_000;
/** Longest wait of a caller without a token for a slot, in milliseconds. */
const SLOT_PATIENCE_MS = 5000;
/** Seconds between two looks at how fast clients read. */
const LOOK_SECONDS = 5;

/** Bounds on downloads. */
export interface DownloadLimits extends CallerLimit {
  /** how many callers without a token have at once in this process; undefined: as many as there are slots */
  withoutToken: number | undefined;
  /** a client that reads slower is disconnected */
  slowest: ReadingSpeed;
}

/**
 * Admits a request that begins a download.
 *
 * @returns a signal that fires when the client is gone, and when the service has stopped waiting for downloads
 * @throws Problem too_many_requests; unavailable if callers without a token have taken all their slots
 */
export type AdmitDownload = (
  request: FastifyRequest,
  reply: FastifyReply,
  user: string | undefined,
) => Promise<AbortSignal>;

/** A download that has been admitted. */
interface Download {
  abort: AbortController;
  request: FastifyRequest['raw'];
  reply: FastifyReply['raw'];
  isTooSlow: (look: ReadingLook) => boolean;
}

/**
 * Bounds how many downloads a caller has at the same time, how many callers without a token have together, how slowly
 * clients read them, and how long stopping waits for them.
 */
export function admitDownloads(app: Server, slots: CallerSlots, limits: DownloadLimits): AdmitDownload {
  const takeSlot = slotsOfCallers(slots, limits);
  const { withoutToken, what, retryAfter } = limits;
  const slotsWithoutToken = processSlots({
    total: withoutToken ?? Number.POSITIVE_INFINITY,
    patienceMs: SLOT_PATIENCE_MS,
    full: () => new Problem('limit.places_without_token', { what }, { retryAfter }),
  });
  const open = new Set<Download>();
  endAtStop(app, open);
  endSlow(app, open, limits);

  return async (request, reply, user) => {
    await takeSlot(request, reply, user);
    if (user === undefined) {
      await slotsWithoutToken.take();
      freeAtEnd(reply, () => slotsWithoutToken.free());
    }
    const abort = new AbortController();
    const isTooSlow = readingMeter(limits.slowest, LOOK_SECONDS);
    const download = { abort, request: request.raw, reply: reply.raw, isTooSlow };
    open.add(download);
    const closed = () => {
      open.delete(download);
      abort.abort(new Problem('request.client_gone'));
    };
    if (reply.raw.closed) closed();
    else reply.raw.once('close', closed);
    return abort.signal;
  };
}

function endAtStop(app: Server, open: ReadonlySet<Download>): void {
  let deadline: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    deadline = setTimeout(() => {
      for (const { abort } of open) abort.abort(new Problem('service.stopping'));
    }, STOP_PATIENCE_MS);
  });
  app.addHook('onClose', async () => clearTimeout(deadline));
}

/** Disconnects clients that read too slowly, because each download holds one of few slots until its end. */
function endSlow(app: Server, open: ReadonlySet<Download>, { slowest, what }: DownloadLimits): void {
  const look = () => {
    for (const { request, reply, isTooSlow } of open) {
      const { socket } = request;
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.destroyed || !isTooSlow({ taken, waits: reply.writableLength > 0 })) continue;
      app.cutOff.download++;
      app.log.warn({ in: 'download', what, ...slowest }, 'disconnected a client that read too slowly');
      socket.destroy();
    }
  };
  const timer = setInterval(look, LOOK_SECONDS * 1000).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}
