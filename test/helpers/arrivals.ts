import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The requests that have arrived at the servers of this process since the watching began. */
export interface Arrivals {
  /** how many requests to a path that begins so */
  requests(path: string): number;
  /** bytes on all connections that were opened since then */
  bytes(): number;
  end(): void;
}

/** Watches what arrives at servers in this process: what a client has sent may still be on its way to them. */
export function watchArrivals(): Arrivals {
  const paths: string[] = [];
  const sockets: Socket[] = [];
  const onRequest = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    paths.push(request.url ?? '');
  };
  const onSocket = (message: unknown) => {
    sockets.push((message as { socket: Socket }).socket);
  };
  subscribe('http.server.request.start', onRequest);
  subscribe('net.server.socket', onSocket);
  return {
    requests: path => paths.filter(arrived => arrived.startsWith(path)).length,
    bytes: () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    end() {
      unsubscribe('http.server.request.start', onRequest);
      unsubscribe('net.server.socket', onSocket);
    },
  };
}
