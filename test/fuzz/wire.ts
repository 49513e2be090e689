import { connect } from 'node:net';

/** A request as it goes over the wire; the characters of its texts are bytes. */
export interface WireRequest {
  method: string;
  path: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer | undefined;
  /** whether the body goes in chunks instead of with its length */
  isChunked: boolean;
}

export interface WireAnswer {
  status: number;
  /** media type, without parameters */
  type: string;
  headers: Map<string, string>;
  /** nothing for one without an end */
  body: Buffer;
}

/** How long an answer may take, in milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * Sends a request over a connection of its own, byte by byte as it is, and reads the answer until the server closes.
 *
 * @throws Error when there is no answer, or one that breaks off
 */
export function exchange(url: string, request: WireRequest): Promise<WireAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    let trouble: Error | undefined;
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('no answer in a minute')));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunks.length < 4 && isEventStream(Buffer.concat(chunks))) socket.destroy();
    });
    socket.on('error', error => {
      trouble = error;
    });
    socket.on('close', () => {
      try {
        resolve(readAnswer(Buffer.concat(chunks), request.method));
      } catch (error) {
        reject(trouble ?? error);
      }
    });
    socket.write(bytesOfRequest(request));
  });
}

function bytesOfRequest({ method, path, headers, body, isChunked }: WireRequest): Buffer {
  const framing: [string, string][] = [];
  if (body) framing.push(isChunked ? ['transfer-encoding', 'chunked'] : ['content-length', `${body.length}`]);
  const lines = [...headers, ...framing, ['connection', 'close']].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  if (!body) return head;
  if (!isChunked) return Buffer.concat([head, body]);
  const chunk = body.length === 0 ? '' : `${body.length.toString(16)}\r\n`;
  return Buffer.concat([
    head,
    Buffer.from(chunk),
    body,
    Buffer.from(chunk && '\r\n'),
    Buffer.from('0\r\n\r\n'),
  ]);
}

function isEventStream(bytes: Buffer): boolean {
  return /\r\ncontent-type: text\/event-stream.*\r\n\r\n/is.test(bytes.toString('latin1'));
}

/** @throws Error when it is not a whole HTTP answer */
export function readAnswer(bytes: Buffer, method: string): WireAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  if (!status) throw new Error(`no answer: ${bytes.subarray(0, 100).toString('latin1')}`);
  const rest = bytes.subarray(end + 4);
  if (status < 200) return readAnswer(rest, method);
  const headers = new Map(
    lines.map(line => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
  const type = (headers.get('content-type') ?? '').split(';')[0] as string;
  const about = { status, type, headers };
  if (type === 'text/event-stream') return { ...about, body: Buffer.alloc(0) };
  // Of a request that cannot be parsed the method is not known either: even a HEAD gets the error then.
  const hasBody =
    (method !== 'HEAD' || (status >= 400 && rest.length > 0)) && status !== 204 && status !== 304;
  if (!hasBody) {
    if (rest.length > 0) throw new Error('a body where there is none');
    return { ...about, body: rest };
  }
  if (headers.get('transfer-encoding') === 'chunked') return { ...about, body: joinedChunks(rest) };
  const length = headers.get('content-length');
  if (length !== undefined && rest.length !== Number(length)) {
    throw new Error(`${rest.length} bytes of an answer of ${length}`);
  }
  return { ...about, body: rest };
}

function joinedChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    const size = line < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, line), 16);
    const next = line + 2 + size;
    if (!(bytes.length >= next + 2)) throw new Error('the answer breaks off');
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(line + 2, next));
    at = next + 2;
  }
}
