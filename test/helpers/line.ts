import { connect, createServer, type Server, type Socket } from 'node:net';

/** The way from a browser to a server, which can be interrupted as by an unplugged cable. */
export interface Line {
  /** the server, reached through the line */
  url: string;
  /** Ends all connections, and refuses new ones. */
  interrupt(): Promise<void>;
  /** The server is reached again. Without effect while it is reached. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A line to a server on loopback.
 *
 * @param target address of the server, such as http://127.0.0.1:8090
 */
export async function openLine(target: string): Promise<Line> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;

  function join(client: Socket): void {
    const onward = connect(Number(targetPort), hostname);
    for (const [socket, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(onward).pipe(client);
  }

  async function restore(): Promise<void> {
    if (server) return;
    server = createServer(join);
    const opened = server;
    await new Promise<void>((resolve, reject) => {
      opened.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    ({ port } = opened.address() as { port: number });
  }

  async function interrupt(): Promise<void> {
    const opened = server;
    server = undefined;
    if (!opened) return;
    const closed = new Promise(resolve => opened.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await restore();
  return { url: `http://127.0.0.1:${port}`, interrupt, restore, close: interrupt };
}
