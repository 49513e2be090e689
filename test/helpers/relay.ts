import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import type { Connection } from '../../src/platform/database/database.ts';

/** A network between a service and its database which can fail. */
export interface Relay {
  /** the database, reached through the relay */
  connection: Connection;
  /** Nothing passes any more, without notice: neither on open connections nor on new ones. */
  blackHole(): void;
  /** Open connections stay dead without notice, new ones reach the database: as after a failover. */
  failOver(): void;
  /** Breaks a connection before a piece passes in which its client sends this text. */
  breakAt(text: string): void;
  /** Everything passes again, what was held back first. */
  heal(): void;
  /** How many connections were broken. */
  broken(): number;
  /** How many connections are open. */
  count(): number;
  close(): Promise<void>;
}

interface Pair {
  client: Socket;
  server: Socket;
  /** left behind by a failover */
  lost: boolean;
}

/**
 * A relay to a PostgreSQL server, over TCP on loopback.
 *
 * @param at its port, by default any free one
 */
export async function openRelay(target: Connection, at = 0): Promise<Relay> {
  const pairs = new Set<Pair>();
  let dark = false;
  let breaking: string | undefined;
  let broken = 0;
  const dial = () => {
    const { host, port } = target as { host: string; port: number };
    if (host.startsWith('/')) return connect(path.join(host, `.s.PGSQL.${port}`));
    return connect({ port, host, noDelay: true });
  };

  function join(client: Socket): void {
    const pair = { client, server: dial(), lost: false };
    pairs.add(pair);
    for (const [from, to] of [
      [pair.client, pair.server],
      [pair.server, pair.client],
    ] as const) {
      from.on('error', () => {});
      from.on('data', bytes => {
        if (from === pair.client && breaking !== undefined && bytes.includes(breaking)) {
          broken++;
          from.destroy();
        } else {
          to.write(bytes);
        }
      });
      // A stranded peer is not notified that the other one has gone.
      from.on('close', () => {
        if (pair.lost && from === pair.server) return;
        pairs.delete(pair);
        to.destroy();
      });
    }
    if (dark) hold(pair);
  }

  const server: Server = createServer({ noDelay: true }, join);
  await new Promise<void>(resolve => server.listen(at, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };

  return {
    connection: { ...target, host: '127.0.0.1', port },
    blackHole() {
      dark = true;
      for (const pair of pairs) hold(pair);
    },
    failOver() {
      dark = false;
      for (const pair of pairs) {
        pair.lost = true;
        hold(pair);
      }
    },
    breakAt(text) {
      breaking = text;
    },
    broken: () => broken,
    heal() {
      dark = false;
      breaking = undefined;
      for (const pair of pairs) if (!pair.lost) pass(pair);
    },
    count: () => pairs.size,
    async close() {
      for (const { client, server } of pairs) for (const socket of [client, server]) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function hold({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

function pass({ client, server }: Pair): void {
  client.resume();
  server.resume();
}
