import { randomBytes } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { Upload as TusUpload } from 'tus-js-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  download,
  sha256,
  storedFiles,
  TUS,
  TUS_PATCH,
  upload,
} from '../../../../test/helpers/attachments.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type Answer, type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { newUlid } from '../../core/packet-format/ulid.ts';
import { cutPieces } from './pieces.ts';

const MAX = 30 * 1024 * 1024;

let service: RunningService;
/** Another process in all but name: it shares the database and DATA_DIR, and nothing else. */
let other: RunningService;
let data: { folder: string; remove: () => Promise<void> };
beforeAll(async () => {
  data = await temporaryFolder();
  const settings = { DATA_DIR: data.folder, MAX_ATTACHMENT_BYTES: String(MAX) };
  service = await runningService(settings);
  other = await runningService(settings, service);
});
afterAll(async () => {
  await other.stop();
  await service.stop();
  await data.remove();
});

const newId = () => `att_${newUlid()}`;

function begin(length: number, metadata = ''): Promise<Answer> {
  const headers = {
    ...TUS,
    'upload-length': String(length),
    ...(metadata && { 'upload-metadata': metadata }),
  };
  return service.send('POST', '/attachments/uploads', undefined, headers);
}

/** Begins an upload and gives its path and the attachment it becomes. */
async function begun(length: number): Promise<{ path: string; id: string }> {
  const { headers, body } = await begin(length);
  return { path: headers.get('location') as string, id: body.attachment_id };
}

function patch(at: RunningService, path: string, offset: number, bytes: Uint8Array): Promise<Answer> {
  return at.send('PATCH', path, bytes, { ...TUS_PATCH, 'upload-offset': String(offset) });
}

async function offsetOf(at: RunningService, path: string): Promise<number> {
  const { headers } = await at.send('HEAD', path, undefined, TUS);
  return Number(headers.get('upload-offset'));
}

/** A proxy that breaks the connections of the first large requests, each after a number of bytes. */
async function brokenNetwork(port: number, cuts: number[]) {
  let broken = 0;
  const clients = new Set<Socket>();
  const proxy = createServer(client => {
    const upstream: Socket = connect(port, '127.0.0.1');
    let passed = 0;
    clients.add(client);
    client.on('data', chunk => {
      passed += chunk.length;
      const limit = cuts[0];
      upstream.write(chunk);
      if (limit === undefined || passed < limit) return;
      cuts.shift();
      broken++;
      client.destroy();
      upstream.end();
    });
    upstream.on('data', chunk => client.write(chunk));
    client.on('error', () => {});
    upstream.on('error', () => {});
    // What has passed arrives, also after the break.
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    broken: () => broken,
    stop() {
      for (const client of clients) client.destroy();
      return new Promise(resolve => proxy.close(resolve));
    },
  };
}

test('a tus client whose network breaks three times resumes each time, and the file is whole', async () => {
  const bytes = randomBytes(10_000_000);
  const id = newId();
  const network = await brokenNetwork(Number(new URL(service.url).port), [1.2e6, 3e6, 2.5e6]);
  const resumedAt: number[] = [];
  await new Promise<void>((resolve, reject) => {
    const client = new TusUpload(bytes, {
      endpoint: `${network.url}/attachments/uploads`,
      metadata: { id, filename: 'drone.tif' },
      retryDelays: [20, 20, 20, 20, 20],
      onBeforeRequest(request) {
        if (request.getMethod() === 'PATCH') resumedAt.push(Number(request.getHeader('Upload-Offset')));
      },
      onSuccess: () => resolve(),
      onError: reject,
    });
    client.start();
  });
  await network.stop();
  expect(network.broken()).toBe(3);
  // A client may be back before the service has read everything that came before the break; what then comes twice is 409.
  expect(resumedAt.length).toBeGreaterThanOrEqual(4);
  expect(resumedAt[0]).toBe(0);
  expect(resumedAt).toEqual(resumedAt.toSorted((a, b) => a - b));
  expect(resumedAt.at(-1)).toBeGreaterThan(1e6);

  const { bytes: whole, headers } = await download(service, id);
  expect(sha256(whole)).toBe(sha256(bytes));
  expect(headers.get('content-disposition')).toContain('filename="drone.tif"');
  expect((await storedFiles(data.folder)).filter(file => file.startsWith('uploads/'))).toEqual([]);
});

test('every byte that came before a break is kept, to the last one', async () => {
  const bytes = randomBytes(5_000_000);
  const { path, id } = await begun(bytes.length);
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write(
    `PATCH ${path} HTTP/1.1\r\nhost: localhost\r\ntus-resumable: 1.0.0\r\nupload-offset: 0\r\n` +
      `content-type: application/offset+octet-stream\r\ncontent-length: ${bytes.length}\r\n\r\n`,
  );
  socket.end(bytes.subarray(0, 2_345_678));
  expect(
    await eventually(
      () => offsetOf(other, path),
      offset => offset === 2_345_678,
    ),
  ).toBe(2_345_678);
  const rest = await patch(other, path, 2_345_678, bytes.subarray(2_345_678));
  expect([rest.status, rest.headers.get('upload-offset')]).toEqual([204, '5000000']);
  expect(sha256((await download(service, id)).bytes)).toBe(sha256(bytes));
});

test('two processes that are sent the same upload at once do not harm it', async () => {
  const bytes = randomBytes(9_000_000);
  const { path, id } = await begun(bytes.length);
  const statuses = new Set<number>();
  for (let offset = 0; offset < bytes.length; ) {
    // Pieces of different lengths from the same offset: what two requests of a confused client bring.
    const answers = await Promise.all(
      [service, other, service, other].map((at, n) =>
        patch(at, path, offset, bytes.subarray(offset, offset + 900_000 + n * 1000)),
      ),
    );
    for (const { status } of answers) statuses.add(status);
    const reached = await offsetOf(service, path);
    expect(reached).toBeGreaterThan(offset);
    expect(await offsetOf(other, path)).toBe(reached);
    offset = reached;
  }
  expect([...statuses].sort()).toEqual([204, 409]);
  expect(sha256((await download(other, id)).bytes)).toBe(sha256(bytes));
  expect((await storedFiles(data.folder)).filter(file => file.startsWith('uploads/'))).toEqual([]);
});

test('the last answer may be lost: the upload says that it is complete, and only then', async () => {
  const bytes = randomBytes(1000);
  const { path, id } = await begun(bytes.length);
  await patch(service, path, 0, bytes.subarray(0, 999));
  expect((await download(service, id)).status).toBe(404);
  await patch(service, path, 999, bytes.subarray(999));
  expect(await offsetOf(other, path)).toBe(1000);
  expect((await download(service, id)).status).toBe(200);
  const again = await patch(service, path, 1000, Buffer.alloc(0));
  expect(again.status).toBe(204);
});

test('the headers of the protocol are sent, and violations are refused', async () => {
  const options = await service.send('OPTIONS', '/attachments/uploads');
  expect(options.status).toBe(204);
  expect(options.headers.get('tus-version')).toBe('1.0.0');
  expect(options.headers.get('tus-extension')).toBe('creation,creation-defer-length,expiration,termination');
  expect(options.headers.get('tus-max-size')).toBe(String(MAX));

  const id = newId();
  const metadata = `id ${btoa(id)},filename ${btoa('a.bin')},is_confidential`;
  const made = await begin(10, metadata);
  const path = made.headers.get('location') as string;
  expect([made.status, made.body, made.headers.get('attachment-id')]).toEqual([
    201,
    { attachment_id: id, upload_id: path.split('/').at(-1) },
    id,
  ]);
  const head = await service.send('HEAD', path, undefined, TUS);
  expect(head.status).toBe(200);
  expect(Object.fromEntries(head.headers)).toMatchObject({
    'upload-offset': '0',
    'upload-length': '10',
    'upload-metadata': metadata,
    'cache-control': 'no-store',
    'tus-resumable': '1.0.0',
  });
  const days = (Date.parse(head.headers.get('upload-expires') as string) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(7);

  const ten = Buffer.alloc(10);
  const refused = async (status: number, method: string, at: string, headers: object, body?: Uint8Array) => {
    const answer = await service.send(method, at, body, headers as Record<string, string>);
    expect([answer.status, Object.keys(answer.body ?? {})], JSON.stringify(headers)).toEqual([
      status,
      ['error'],
    ]);
    expect(answer.headers.get('tus-resumable')).toBe('1.0.0');
  };
  await refused(412, 'POST', '/attachments/uploads', { 'upload-length': '1' });
  await refused(412, 'PATCH', path, { ...TUS_PATCH, 'tus-resumable': '0.2.2', 'upload-offset': '0' }, ten);
  await refused(400, 'POST', '/attachments/uploads', TUS);
  for (const length of ['-1', 'x', '1.5']) {
    await refused(400, 'POST', '/attachments/uploads', { ...TUS, 'upload-length': length });
  }
  await refused(413, 'POST', '/attachments/uploads', { ...TUS, 'upload-length': String(MAX + 1) });
  for (const bad of ['id !', 'id eA==,id eA==', `id ${btoa('att_x')}`]) {
    const headers = { ...TUS, 'upload-length': '1', 'upload-metadata': bad };
    await refused(400, 'POST', '/attachments/uploads', headers);
  }
  await refused(400, 'PATCH', path, TUS_PATCH, ten);
  await refused(409, 'PATCH', path, { ...TUS_PATCH, 'upload-offset': '1' }, ten);
  await refused(415, 'PATCH', path, { ...TUS, 'content-type': 'text/plain', 'upload-offset': '0' }, ten);
  await refused(400, 'PATCH', path, { ...TUS_PATCH, 'upload-offset': '0' }, Buffer.alloc(11));
  await refused(404, 'PATCH', `${path}0`, { ...TUS_PATCH, 'upload-offset': '0' }, ten);
  expect(await offsetOf(service, path)).toBe(0);
  expect((await patch(service, path, 0, ten)).status).toBe(204);
});

test('lengths and offsets of an upload are digits alone; the error names the header', async () => {
  const { path } = await begun(1000);
  for (const number of ['1e3', '0x3e8', '+1000', '-0', '1000.0', '1_000', '1000, 1000', '0b1', '١٠', '']) {
    const length = Buffer.from(number).toString('latin1');
    const sentence = 'must be a whole number written in digits';
    const posted = await service.send('POST', '/attachments/uploads', undefined, {
      ...TUS,
      'upload-length': length,
    });
    expect([posted.status, posted.body], number).toEqual([400, { error: `upload-length ${sentence}` }]);
    const patched = await service.send('PATCH', path, Buffer.alloc(1), {
      ...TUS_PATCH,
      'upload-offset': length,
    });
    expect([patched.status, patched.body], number).toEqual([400, { error: `upload-offset ${sentence}` }]);
  }
  const padded = await service.send('POST', '/attachments/uploads', undefined, {
    ...TUS,
    'upload-length': ' 007 ',
  });
  expect(padded.status).toBe(201);
  const head = await service.send('HEAD', padded.headers.get('location') as string, undefined, TUS);
  expect(head.headers.get('upload-length')).toBe('7');
});

test('a client can read the answer to a large body that is refused unread', async () => {
  const { path } = await begun(9_000_000);
  const bodies: [number, number, number][] = [
    [1, 8_000_000, 409],
    [0, 14_000_000, 400],
    [8_388_608, 1000, 204],
  ];
  for (const [offset, length, expected] of bodies) {
    const headers = { ...TUS_PATCH, 'upload-offset': String(offset) };
    const { status } = await service.send('PATCH', path, new Uint8Array(length), headers);
    expect(status, `${offset}`).toBe(expected);
  }
  await service.send('DELETE', path, undefined, TUS);
});

test('an id that belongs to another file is refused as early as possible', async () => {
  const id = newId();
  await upload(service, 'twelve bytes', { id });
  const metadata = `id ${btoa(id)}`;
  expect((await begin(13, metadata)).status).toBe(409);
  const same = (await begin(12, metadata)).headers.get('location') as string;
  expect((await patch(service, same, 0, Buffer.from('twelve bytes'))).status).toBe(204);
  const different = (await begin(12, metadata)).headers.get('location') as string;
  expect((await patch(service, different, 0, Buffer.from('other  bytes'))).status).toBe(409);
  expect(String((await download(service, id)).bytes)).toBe('twelve bytes');
});

test('an empty file is complete at once, and a cancelled upload is removed', async () => {
  const empty = await begun(0);
  expect((await download(service, empty.id)).bytes).toHaveLength(0);
  const { path } = await begun(5_000_000);
  await patch(service, path, 0, Buffer.alloc(4_000_000));
  expect((await storedFiles(data.folder)).some(file => file.startsWith('uploads/'))).toBe(true);
  expect((await service.send('DELETE', path, undefined, TUS)).status).toBe(204);
  expect((await storedFiles(data.folder)).some(file => file.startsWith('uploads/'))).toBe(false);
  expect((await service.send('HEAD', path, undefined, TUS)).status).toBe(404);
  expect((await service.send('DELETE', path, undefined, TUS)).status).toBe(404);
});

test('pieces are what came, cut evenly, also of a stream that breaks', async () => {
  const bytes = randomBytes(1000);
  const cut = async (send: (stream: PassThrough) => void) => {
    const stream = new PassThrough();
    send(stream);
    const pieces: Buffer[] = [];
    for await (const piece of cutPieces(stream, 300)) pieces.push(piece);
    return { sizes: pieces.map(({ length }) => length), came: Buffer.concat(pieces) };
  };
  const whole = await cut(stream => stream.end(bytes));
  expect(whole.sizes).toEqual([300, 300, 300, 100]);
  expect(whole.came.equals(bytes)).toBe(true);
  const inChunks = await cut(stream => {
    for (let at = 0; at < 1000; at += 70) stream.write(bytes.subarray(at, at + 70));
    stream.end();
  });
  expect(inChunks.came.equals(bytes)).toBe(true);
  const broken = await cut(stream => {
    stream.write(bytes.subarray(0, 400));
    setImmediate(() => stream.destroy(new Error('the network is gone')));
  });
  expect(broken.came.equals(bytes.subarray(0, 400))).toBe(true);
});

test('U+0000 in the metadata of an upload is 400 and names the key', async () => {
  for (const key of ['id', 'filename', 'name', 'taken-by']) {
    const metadata = `${key} ${Buffer.from('a\0b').toString('base64')}`;
    const headers = { ...TUS, 'upload-length': '5', 'upload-metadata': metadata };
    const { status, body } = await service.send('POST', '/attachments/uploads', undefined, headers);
    expect([status, body.error]).toEqual([
      400,
      `${key} in Upload-Metadata must not contain the character U+0000`,
    ]);
  }
});
