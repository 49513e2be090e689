import { connect, type Socket } from 'node:net';
import { eventually } from './eventually.ts';

/** A connection that sends what a test writes, byte by byte if it likes. */
export interface RawConnection {
  send(text: string): void;
  /** everything that came back so far */
  received(): string;
  /** Reads no more. */
  pause(): void;
  closed: Promise<void>;
  close(): void;
}

/** Connects to a service without sending HTTP. */
export async function rawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('error', () => {});
  socket.on('data', chunk => {
    text += chunk;
  });
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    send: bytes => socket.write(bytes),
    received: () => text,
    pause: () => socket.pause(),
    closed,
    close: () => socket.destroy(),
  };
}

/** A POST of JSON as it goes over the wire. The server says `100 Continue` when it has begun with it. */
export function postText(path: string, body: object): string {
  const text = JSON.stringify(body);
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-type: application/json`;
  return `${head}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Sends all of a request but its end, and waits until the server has begun with it. */
export async function beginRequest(url: string, request: string): Promise<RawConnection> {
  const connection = await rawConnection(url);
  connection.send(request.slice(0, -10));
  await eventually(() => connection.received().startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
  return connection;
}
