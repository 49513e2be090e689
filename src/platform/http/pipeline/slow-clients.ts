import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { boundedLines } from '../../concurrency/bounded-lines.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Server } from '../server.ts';
import type { IsAnswered } from './answers.ts';
import { isUnfinished } from './discard.ts';

/** Bytes a second that the body of a request brings on average, at least. */
export const MIN_BYTES_PER_SECOND = 1024;

declare module 'fastify' {
  interface FastifyInstance {
    /** How many clients were disconnected because they stalled or were too slow, by what they stalled in. */
    cutOff: { answer: number; body: number; download: number };
  }
}

/** Maximum lines about stalled clients per minute. */
const LINES_PER_MINUTE = 10;

type StallSetting = Pick<Settings, 'STALL_SECONDS'>;

/**
 * Disconnects clients that stall: readers that read nothing of an answer for STALL_SECONDS, and senders whose body
 * arrives at less than 1 KiB/s on average over that time, which get 408. Neither an answer nor a body has a deadline
 * beyond that: on a bad network a large file takes as long as it takes.
 *
 * @returns see IsAnswered
 */
export function cutOffSlowClients(app: Server, { STALL_SECONDS }: StallSetting): IsAnswered {
  const counts = { answer: 0, body: 0, download: 0 };
  app.decorate('cutOff', counts);
  const boundedLog = boundedLines(LINES_PER_MINUTE);
  const report = (stalledIn: 'answer' | 'body') => {
    counts[stalledIn]++;
    boundedLog(missing =>
      app.log.warn(
        { in: stalledIn, seconds: STALL_SECONDS, ...(missing > 0 && { missing }) },
        'disconnected a client that stalled',
      ),
    );
  };
  cutOffReaders(app, STALL_SECONDS * 1000, () => report('answer'));
  return cutOffSenders(app, STALL_SECONDS, () => report('body'));
}

/**
 * Gives connections on which something waits to be written the stall limit as their timeout, until their next request.
 * Node starts a socket's timeout again whenever bytes move, also when the kernel took a part of a write, which it notices
 * at the end of the timeout: a stalled reader is cut off after one to two and a half times the limit.
 *
 * `server.setTimeout` would do the same without looking at connections, but costs every request two changes of timers.
 */
function cutOffReaders(app: Server, stallMs: number, onCutOff: () => void): void {
  const { server } = app;
  const open = new Set<Socket>();
  server.on('connection', socket => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('timeout', (socket: Socket) => {
    // A connection that is kept alive between two requests has another timeout, and ends with it.
    const isIdle = socket.timeout !== stallMs;
    const stalls = !isIdle && socket.writableLength > 0;
    if (stalls) onCutOff();
    if (isIdle || stalls) socket.destroy();
    // The service, not the client, is slow: it has not answered yet.
    else socket.setTimeout(0);
  });
  const look = () => {
    for (const socket of open) {
      if (socket.writableLength > 0 && socket.timeout !== stallMs) socket.setTimeout(stallMs);
    }
  };
  lookRegularly(app, look, stallMs);
}

/** Calls `look` four times in the limit, and at least every 5 seconds. */
function lookRegularly(app: Server, look: () => void, limitMs: number): void {
  const timer = setInterval(look, Math.min(5000, limitMs / 4)).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

/** A request whose body was not all there when it began. */
interface Arriving {
  request: IncomingMessage;
  response: ServerResponse;
  /** bytes of its connection when it was first checked, or restarted, and when that was; undefined before */
  began: { bytesRead: number; at: number } | undefined;
}

function cutOffSenders(app: Server, seconds: number, onCutOff: () => void): IsAnswered {
  // By connection, which has one request at a time: the next one takes the place of one that has arrived.
  const arriving = new Map<Socket, Arriving>();
  app.addHook('onRequest', ({ raw: request }, { raw: response }, done) => {
    if (isUnfinished(request)) arriving.set(request.socket, { request, response, began: undefined });
    done();
  });

  const look = () => {
    const now = performance.now();
    for (const [socket, entry] of arriving) {
      const { request, response, began } = entry;
      if (request.complete || socket.destroyed) {
        arriving.delete(socket);
        continue;
      }
      // Received bytes that were not read yet are not the client's delay.
      const isOurs = request.readableLength > 0;
      if (began && !isOurs && now - began.at < seconds * 1000) continue;
      if (!began || isOurs || socket.bytesRead - began.bytesRead >= MIN_BYTES_PER_SECOND * seconds) {
        entry.began = { bytesRead: socket.bytesRead, at: now };
        continue;
      }
      arriving.delete(socket);
      onCutOff();
      if (response.headersSent) socket.destroy();
      else app.server.emit('clientError', tooSlow(), socket);
    }
  };
  lookRegularly(app, look, seconds * 1000);
  return socket => {
    const last = arriving.get(socket);
    return last !== undefined && !last.request.complete && last.response.headersSent;
  };
}

/** The error that Node itself has for requests that take too long. */
function tooSlow(): Error {
  return Object.assign(new Error('the body arrives too slowly'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}
