import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/**
 * How much of a body that nobody wants is read, in bytes, and how long its connection is kept open after the answer, in
 * milliseconds.
 */
const MAX_DISCARDED = 1024 * 1024;
const DISCARD_MS = 1000;

/** Whether some of a request's body has not arrived yet. */
export function isUnfinished({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Has the connection closed after the answer to a request whose body is not all here: gracefully, so that the client
 * can read the answer. Closing a socket that holds unread bytes resets the connection, and the reset overtakes the
 * answer (RFC 9112 §9.6). Therefore what still comes is read and thrown away for a moment. The answer must carry
 * `Connection: close`.
 */
export function closeAfterAnswer(request: IncomingMessage): void {
  const { socket } = request;
  discard(request);
  // Node calls this when it has handed the answer over.
  socket.destroySoon = () => {
    if (request.complete) Socket.prototype.destroySoon.call(socket);
    else closeSoon(socket, closed => request.once('end', closed));
  };
}

/** Like `closeAfterAnswer`, for a connection whose request could not be parsed, after its answer is written. */
export function closeUnreadable(socket: Socket): void {
  // The parser has given the connection up; what comes is read past it.
  discard(socket);
  closeSoon(socket, closed => socket.once('end', closed));
}

function discard(stream: IncomingMessage | Socket): void {
  let discarded = 0;
  stream.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    // What is left stays in the network, and the client in its writing, until the connection is closed.
    if (discarded > MAX_DISCARDED) stream.pause();
  });
  stream.resume();
}

function closeSoon(socket: Socket, onEnd: (closed: () => void) => void): void {
  socket.end();
  const destroy = () => socket.destroy();
  const timer = setTimeout(destroy, DISCARD_MS);
  onEnd(destroy);
  socket.once('close', () => clearTimeout(timer));
}
