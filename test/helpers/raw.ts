import { connect, type Socket } from 'node:net';

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

/** Connects to a service without speaking HTTP by itself. */
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

/** A POST of JSON as it goes over the wire. */
export function postText(path: string, body: object): string {
  const text = JSON.stringify(body);
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json`;
  return `${head}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
