import { randomBytes } from 'node:crypto';
import { readdir, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { download, sha256, storedFiles, upload } from '../../../../test/helpers/attachments.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { newUlid, ulidToUuid } from '../../core/packet-format/ulid.ts';

const MAX = 1_000_000;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

let service: RunningService;
let data: { folder: string; remove: () => Promise<void> };
beforeAll(async () => {
  data = await temporaryFolder();
  service = await runningService({ DATA_DIR: data.folder, MAX_ATTACHMENT_BYTES: String(MAX) });
});
afterAll(async () => {
  await service.stop();
  await data.remove();
});

const newId = () => `att_${newUlid()}`;

test('a file is uploaded, referred to by a packet, and downloaded unchanged', async () => {
  const stored = await upload(service, png, { name: 'Blatt.png' });
  expect(stored.status).toBe(201);
  expect(stored.body).toEqual({
    attachment_id: expect.stringMatching(/^att_[0-9A-Z]{26}$/),
    sha256: sha256(png),
    size: png.length,
    content_type: 'image/png',
    name: 'Blatt.png',
    uploaded_at: expect.stringMatching(/^2\d{3}-.*Z$/),
  });
  const id = stored.body.attachment_id;
  const { status, bytes, headers } = await download(service, id);
  expect(status).toBe(200);
  expect(bytes.equals(png)).toBe(true);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(png.length),
    'content-disposition': `attachment; filename="Blatt.png"; filename*=UTF-8''Blatt.png`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    etag: `"${sha256(png)}"`,
  });
  expect((await download(service, `att_${id.slice(4).toLowerCase()}`)).status).toBe(200);
});

test("a file's type is detected from its bytes, whatever the client says", async () => {
  const page = await upload(service, '<script>alert(1)</script>', { name: 'x.html' });
  expect(page.body.content_type).toBe('application/octet-stream');
  expect((await upload(service, png, { name: 'x.html' })).body.content_type).toBe('image/png');
  expect((await upload(service, '')).body).toMatchObject({
    size: 0,
    content_type: 'application/octet-stream',
  });
});

test('a repeated upload gets the same answer, another file under the same id is refused', async () => {
  const id = newId();
  const bytes = randomBytes(1000);
  const first = await upload(service, bytes, { id, name: 'one' });
  const again = await upload(service, bytes, { id, name: 'two' });
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body).toEqual(first.body);
  expect((await upload(service, randomBytes(1000), { id })).status).toBe(409);
  const form = new FormData();
  form.set('file', new Blob([bytes]));
  const inQuery = await fetch(`${service.url}/attachments?id=${id}`, { method: 'POST', body: form });
  expect(inQuery.status).toBe(200);
});

test('a content that is sent many times, also at once, is kept once', async () => {
  const bytes = randomBytes(50_000);
  const answers = await Promise.all(Array.from({ length: 8 }, () => upload(service, bytes)));
  expect(new Set(answers.map(({ body }) => body.attachment_id)).size).toBe(8);
  const kept = (await storedFiles(data.folder)).filter(file => file.includes(sha256(bytes)));
  expect(kept).toEqual([`attachments/${sha256(bytes)}`]);
  for (const { body } of answers)
    expect((await download(service, body.attachment_id)).bytes.equals(bytes)).toBe(true);
});

test('one of several simultaneous uploads of a new id wins and the others are refused', async () => {
  const id = newId();
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => upload(service, `${n}`, { id })));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([201, 409, 409, 409, 409, 409]);
});

test('a malformed form is refused, and leaves nothing', async () => {
  const before = await storedFiles(data.folder);
  const send = async (type: string, body: string | Uint8Array) => {
    const { status, body: answer } = await service.send('POST', '/attachments', body, {
      'content-type': type,
    });
    return [status, answer.error];
  };
  const form = (...parts: string[]) =>
    `${parts.map(part => `--x\r\ncontent-disposition: form-data; ${part}\r\n`).join('')}--x--\r\n`;
  const multipart = 'multipart/form-data; boundary=x';
  const file = 'name="file"; filename="a"\r\n\r\ncontent';
  expect(await send('application/json', '{}')).toEqual([415, expect.stringContaining('multipart/form-data')]);
  expect(await send('text/plain', 'x')).toEqual([415, expect.stringContaining('multipart/form-data')]);
  expect(await send(multipart, form('name="id"\r\n\r\nx'))).toEqual([400, 'file is required']);
  expect(await send(multipart, '--x--')).toEqual([400, expect.any(String)]);
  expect(await send(multipart, form(file, file))).toEqual([400, expect.stringMatching(/^file must be one/)]);
  expect(await send(multipart, form('name="picture"; filename="a"\r\n\r\nx'))).toEqual([
    400,
    expect.stringMatching(/^file must be/),
  ]);
  expect(await send(multipart, form('name="id"\r\n\r\natt_x', file))).toEqual([
    400,
    expect.stringMatching(/^id must be/),
  ]);
  expect(await send(multipart, form(file).slice(0, -8))).toEqual([400, expect.stringContaining('complete')]);
  expect(await send('multipart/form-data; charset=x', 'x')).toEqual([400, expect.any(String)]);
  const large = await upload(service, Buffer.alloc(MAX + 1));
  expect([large.status, large.body.error]).toEqual([413, expect.stringContaining('MAX_ATTACHMENT_BYTES')]);
  expect((await upload(service, Buffer.alloc(MAX + 200_000))).status).toBe(413);
  expect((await upload(service, Buffer.alloc(MAX))).status).toBe(201);
  const after = (await storedFiles(data.folder)).filter(file => !file.includes(sha256(Buffer.alloc(MAX))));
  expect(after).toEqual(before);
});

test('an upload whose client goes away leaves nothing, and holds no place', async () => {
  const small = await runningService(
    { DATA_DIR: data.folder, CONCURRENT_UPLOADS: '1', MAX_ATTACHMENT_BYTES: String(MAX) },
    service,
  );
  const before = await storedFiles(data.folder);
  const socket = connect(Number(new URL(small.url).port), '127.0.0.1');
  socket.write(
    'POST /attachments HTTP/1.1\r\nhost: localhost\r\ncontent-length: 90000\r\n' +
      'content-type: multipart/form-data; boundary=x\r\n\r\n' +
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nbegin',
  );
  await eventually(
    () => storedFiles(data.folder),
    files => files.length > before.length,
  );
  const refused = await upload(small, 'second');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  socket.destroy();
  await eventually(async () => (await upload(small, 'second')).status === 201);
  const left = (await storedFiles(data.folder)).filter(file => file.startsWith('.receiving'));
  expect(left).toEqual([]);
  await small.stop();
});

test('names are kept as far as they are names, and are given back in every script', async () => {
  const names: [string, string][] = [
    ['поле №7.jpg', 'поле №7.jpg'],
    ['中文.png', '中文.png'],
    ['C:\\pictures\\leaf.jpg', 'leaf.jpg'],
    ['../../etc/passwd', 'passwd'],
    ['a"b;c%41\'*.txt', 'a"b;c%41\'*.txt'],
    ['x'.repeat(300), 'x'.repeat(200)],
    ['evil\u202egpj.exe', 'evilgpj.exe'],
  ];
  for (const [sent, kept] of names) {
    const id = newId();
    // As tus clients send it: a form's file name is escaped by each browser in its own way.
    const metadata = `id ${btoa(id)},filename ${Buffer.from(sent).toString('base64')}`;
    await service.send('POST', '/attachments/uploads', undefined, {
      'tus-resumable': '1.0.0',
      'upload-length': '0',
      'upload-metadata': metadata,
    });
    const { headers } = await download(service, id);
    const value = headers.get('content-disposition') ?? '';
    expect(value).toMatch(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[\w.!#$&+^`|~%-]*$/);
    expect(decodeURIComponent(value.split("UTF-8''")[1] as string)).toBe(kept);
  }
});

test('a packet lists which of its attachments are stored, in its order', async () => {
  const [here, later] = [newId(), newId()];
  await upload(service, png, { id: here, name: 'leaf.png' });
  const attachments = [later, { id: here, note: 'from above' }, 'https://example.org/x.jpg', { url: 'x' }];
  const { body } = await service.send('POST', '/intake/scouting', { ...observation, attachments });
  const path = `/packets/${body.packet_uuid}/attachments`;
  const stored = {
    attachment_id: here,
    status: 'stored',
    size: png.length,
    sha256: sha256(png),
    content_type: 'image/png',
    name: 'leaf.png',
  };
  const foreign = { status: 'foreign' };
  expect((await service.send('GET', path)).body).toEqual({
    attachments: [{ attachment_id: later, status: 'missing' }, stored, foreign, foreign],
  });
  await upload(service, 'late', { id: later });
  expect((await service.send('GET', path)).body.attachments[0]).toMatchObject({ status: 'stored', size: 4 });
  expect((await service.send('GET', `/packets/${newUlid()}/attachments`)).status).toBe(404);
  const plain = await service.send('POST', '/intake/scouting', observation);
  const none = await service.send('GET', `/packets/${plain.body.packet_uuid}/attachments`);
  expect(none.body).toEqual({ attachments: [] });
});

test('a packet that was finalized offline also lists its stored attachments', async () => {
  const id = newId();
  const Header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type: 'note' };
  const Body = { attachments: [{ id }, id] };
  const hash = sha256(Buffer.from(`${canonicalize(Header)}${canonicalize(Body)}`));
  const packet = { Header, Body, Footer: { hash, enc: 'none', lang: 'und' } };
  expect((await service.send('POST', '/packets', packet)).status).toBe(201);
  const { rows } = await service.pool.query(
    'SELECT count(*)::int AS named FROM packet_attachments WHERE attachment_id = $1',
    [ulidToUuid(id.slice(4))],
  );
  expect(rows).toEqual([{ named: 1 }]);
  const list = await service.send('GET', `/packets/${Header.id}/attachments`);
  const missing = { attachment_id: id, status: 'missing' };
  expect(list.body).toEqual({ attachments: [missing, missing] });
});

test('an unknown attachment is 404, whatever its name', async () => {
  for (const id of [newId(), newUlid(), 'att_', 'att_x', '..%2f..%2fetc%2fpasswd', `att_${newUlid()}x`]) {
    for (const method of ['GET', 'HEAD']) {
      expect((await service.send(method, `/attachments/${id}`)).status, id).toBe(404);
    }
  }
});

test('any range of a file is what those bytes of it are', async () => {
  const bytes = randomBytes(10_000);
  const id = (await upload(service, bytes)).body.attachment_id;
  const offset = fc.integer({ min: 0, max: 12_000 });
  const ranges = fc.oneof(
    fc.tuple(offset, offset).map(([a, b]) => ({ text: `${a}-${b}`, start: a, end: b })),
    offset.map(a => ({ text: `${a}-`, start: a, end: 9999 })),
    offset.map(n => ({ text: `-${n}`, start: Math.max(0, 10_000 - n), end: n === 0 ? -2 : 9999 })),
  );
  await fc.assert(
    fc.asyncProperty(ranges, async ({ text, start, end }) => {
      const { status, bytes: part, headers } = await download(service, id, { range: `bytes=${text}` });
      if (end === -2 || (start >= 10_000 && end >= start)) {
        expect([status, headers.get('content-range')]).toEqual([416, 'bytes */10000']);
      } else if (end < start && !text.endsWith('-')) {
        expect(status).toBe(200);
      } else if (start >= 10_000) {
        expect([status, headers.get('content-range')]).toEqual([416, 'bytes */10000']);
      } else {
        const last = Math.min(end, 9999);
        expect(status).toBe(206);
        expect(headers.get('content-range')).toBe(`bytes ${start}-${last}/10000`);
        expect(headers.get('content-length')).toBe(String(last - start + 1));
        expect(part.equals(bytes.subarray(start, last + 1))).toBe(true);
      }
    }),
    { numRuns: runs(150) },
  );
});

test('ranges that are none, several, or of another file are answered with the whole', async () => {
  const bytes = randomBytes(100);
  const id = (await upload(service, bytes)).body.attachment_id;
  const tag = `"${sha256(bytes)}"`;
  for (const range of ['bytes=0-1,5-6', 'bytes=', 'bytes=-', 'bytes=a-b', 'lines=0-1', 'bytes=5-1']) {
    const { status, bytes: whole } = await download(service, id, { range });
    expect([range, status, whole.equals(bytes)]).toEqual([range, 200, true]);
  }
  const part = async (ifRange: string) =>
    (await download(service, id, { range: 'bytes=0-9', 'if-range': ifRange })).status;
  expect(await part(tag)).toBe(206);
  for (const other of ['"other"', `W/${tag}`, new Date().toUTCString()]) expect(await part(other)).toBe(200);
  const empty = (await upload(service, '')).body.attachment_id;
  expect((await download(service, empty, { range: 'bytes=0-' })).status).toBe(416);
});

test('clients that have the file get 304, and HEAD returns the headers of GET', async () => {
  const id = (await upload(service, png)).body.attachment_id;
  const tag = `"${sha256(png)}"`;
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    for (const method of ['GET', 'HEAD']) {
      const again = await service.send(method, `/attachments/${id}`, undefined, { 'if-none-match': known });
      expect([again.status, again.text]).toEqual([304, '']);
    }
  }
  const names = ['content-length', 'content-type', 'etag', 'content-disposition', 'accept-ranges'];
  const head = await service.send('HEAD', `/attachments/${id}`);
  const get = await download(service, id);
  for (const name of names) expect(head.headers.get(name), name).toBe(get.headers.get(name));
});

test.runIf(process.platform === 'linux')('an aborted download closes its file', async () => {
  const bytes = randomBytes(MAX);
  const id = (await upload(service, bytes)).body.attachment_id;
  const open = async () => {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    return links.filter(link => link.includes(sha256(bytes))).length;
  };
  const sockets = Array.from({ length: 5 }, () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').pause();
    socket.write(`GET /attachments/${id} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(20));
    return socket;
  });
  await eventually(open);
  for (const socket of sockets) socket.destroy();
  await eventually(open, count => count === 0);
  expect((await download(service, id)).bytes.equals(bytes)).toBe(true);
});
