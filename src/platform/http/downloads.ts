import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Places } from '../limits/places.ts';
import { callerShare, type ShareOptions } from './caller-share.ts';
import { Problem } from './problems.ts';
import type { Server } from './server.ts';

/** How long a stopping service lets downloads go on, in milliseconds: less than it waits for everything. */
const STOP_PATIENCE_MS = 10_000;

/**
 * Admits a request that begins a download.
 *
 * @returns a signal that fires when the client is gone, and when the service has stopped waiting for downloads
 * @throws Problem too_many_requests
 */
export type AdmitDownload = (
  request: FastifyRequest,
  reply: FastifyReply,
  user: string | undefined,
) => Promise<AbortSignal>;

/** Bounds how many downloads a caller has at the same time, and how long stopping waits for them. */
export function admitDownloads(app: Server, places: Places, share: ShareOptions): AdmitDownload {
  const takeShare = callerShare(places, share);
  const open = new Set<AbortController>();
  let deadline: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    deadline = setTimeout(() => {
      for (const download of open) download.abort(new Problem('service.stopping'));
    }, STOP_PATIENCE_MS);
  });
  app.addHook('onClose', async () => clearTimeout(deadline));

  return async (request, reply, user) => {
    await takeShare(request, reply, user);
    const download = new AbortController();
    open.add(download);
    const closed = () => {
      open.delete(download);
      download.abort(new Problem('request.client_gone'));
    };
    if (reply.raw.closed) closed();
    else reply.raw.once('close', closed);
    return download.signal;
  };
}
