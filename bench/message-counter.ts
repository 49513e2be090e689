import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';

/** Messages between a service and its database since the relay was opened. */
export interface Messages {
  /** statements that were executed */
  statements: number;
  /** times that the server reported to be ready for the next query, for which the service waited */
  roundTrips: number;
}

/** A relay to a PostgreSQL server that counts messages. */
export interface MessageCounter {
  /** the port on loopback where it listens */
  port: number;
  count(): Messages;
  close(): Promise<void>;
}

/** Codes of messages: PostgreSQL's "Frontend/Backend Protocol", Message Formats. */
const [EXECUTE, QUERY, READY] = [0x45, 0x51, 0x5a];

/**
 * Opens a relay to a server without TLS.
 *
 * @param target the folder of the server's socket and its port
 */
export async function countMessages(target: { host: string; port: number }): Promise<MessageCounter> {
  const sockets = new Set<Socket>();
  const messages: Messages = { statements: 0, roundTrips: 0 };
  const relay = createServer(client => {
    const server = connect(path.join(target.host, `.s.PGSQL.${target.port}`));
    // The first message of a client has no code.
    const sent = messageReader(4, code => {
      if (code === EXECUTE || code === QUERY) messages.statements++;
    });
    const received = messageReader(0, code => {
      if (code === READY) messages.roundTrips++;
    });
    for (const [from, to, read] of [
      [client, server, sent],
      [server, client, received],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.on('data', bytes => {
        read(bytes);
        to.write(bytes);
      });
    }
  });
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve));
  return {
    port: (relay.address() as { port: number }).port,
    count: () => ({ ...messages }),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => relay.close(resolve));
    },
  };
}

/**
 * Reports the code of each message in a stream of bytes.
 *
 * @param withoutCode 4 if the first message begins with its length of four bytes, otherwise 0
 */
function messageReader(withoutCode: 0 | 4, onMessage: (code: number) => void): (bytes: Buffer) => void {
  let head = Buffer.alloc(0);
  let headBytes = withoutCode || 5;
  let skip = 0;
  return bytes => {
    for (let at = 0; at < bytes.length; ) {
      const skipped = Math.min(skip, bytes.length - at);
      skip -= skipped;
      at += skipped;
      const taken = bytes.subarray(at, at + headBytes - head.length);
      head = Buffer.concat([head, taken]);
      at += taken.length;
      if (head.length < headBytes) return;
      if (headBytes === 5) onMessage(head[0] as number);
      // A length counts its own four bytes.
      skip = head.readInt32BE(headBytes - 4) - 4;
      headBytes = 5;
      head = Buffer.alloc(0);
    }
  };
}
