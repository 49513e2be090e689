import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storedFiles } from '../../../../test/helpers/attachments.ts';
import { testWith } from '../../../../test/helpers/debian.ts';
import { downloadFile, picture, sendForm, uploadFile } from '../../../../test/helpers/images.ts';
import { bucket } from '../../../../test/helpers/s3.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const testWithCurl = await testWith('curl');

let trace: RunningTrace;
let user: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  user = await trace.loggedIn();
});
afterAll(() => trace.stop());

const keep = async (bytes: Uint8Array, name?: string): Promise<string> =>
  (await uploadFile(trace, user, 'image', bytes, name)).body.data.storageKey;
const get = (where: string, headers?: Record<string, string>) => downloadFile(trace, user, where, headers);

/** A photo of a phone held sideways: rotated by its metadata, which also has the location. */
const photo = () =>
  picture(300, 100)
    .composite([
      { input: { create: { width: 100, height: 100, channels: 3, background: '#00f' } }, left: 0, top: 0 },
    ])
    .withMetadata({
      orientation: 6,
      exif: { IFD0: { Make: 'PhoneMaker' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '1/1 57/1 0/1' } },
    })
    .jpeg()
    .toBuffer();

testWithCurl('curl uploads a photo as the interface document shows it', async () => {
  const file = path.join(trace.folder, 'x.jpg');
  const bytes = await picture(30, 20).jpeg().toBuffer();
  await writeFile(file, bytes);
  const { stdout } = await promisify(execFile)('curl', [
    ...['-sS', '-X', 'POST', '-F', `file=@${file}`, '-H', `Cookie: ${user.cookie}`],
    `${trace.url}/api/common/image`,
  ]);
  const { status, data } = JSON.parse(stdout);
  expect(status).toBe('OK');
  expect(data).toEqual({
    id: expect.any(Number),
    storageKey: expect.stringMatching(UUID),
    name: 'x.jpg',
    contentType: 'image/jpeg',
    size: bytes.length,
  });
});

test('served images are upright and do not disclose where they were taken', async () => {
  const bytes = await photo();
  expect((await sharp(bytes).metadata()).orientation).toBe(6);
  expect(bytes.includes('PhoneMaker')).toBe(true);
  const key = await keep(bytes);
  for (const where of [`image/${key}`, `image/${key}/SMALL`]) {
    const { status, bytes: served } = await get(where);
    expect(status).toBe(200);
    const { width, height, orientation, exif, format } = await sharp(served).metadata();
    expect({ width, height, orientation, exif, format }).toEqual({
      width: 100,
      height: 300,
      orientation: undefined,
      exif: undefined,
      format: 'jpeg',
    });
    expect(served.includes('PhoneMaker')).toBe(false);
    // The left edge has become the top.
    const top = await sharp(served).extract({ left: 40, top: 10, width: 10, height: 10 }).raw().toBuffer();
    expect(top[2]).toBeGreaterThan(200);
  }
  // The original stays unchanged, and nobody can read it over HTTP.
  const original = await readFile(path.join(trace.folder, 'files/images', key, 'original'));
  expect(original.equals(bytes)).toBe(true);
});

test('colours of another colour space come out as the same colours in sRGB', async () => {
  const bytes = await picture(20, 20, '#ff8000').withIccProfile('p3').png().toBuffer();
  expect((await sharp(bytes).metadata()).hasProfile).toBe(true);
  const { bytes: served } = await get(`image/${await keep(bytes)}`);
  expect((await sharp(served).metadata()).hasProfile).toBe(false);
  const [red, green, blue] = (await sharp(served).stats()).channels.map(({ mean }) => mean);
  expect(red).toBeGreaterThan(250);
  expect(Math.abs((green as number) - 128)).toBeLessThan(4);
  expect(blue).toBeLessThan(8);
});

test('every size fits inside its frame, in the format of the upload, without enlargement', async () => {
  const frames = {
    SMALL: [640, 320],
    MEDIUM: [1024, 512],
    LARGE: [1200, 600],
    XLARGE: [1440, 720],
    XXLARGE: [2000, 1000],
  } as const;
  const sizes = async (bytes: Uint8Array) => {
    const key = await keep(bytes);
    return Promise.all(
      Object.keys(frames).map(async size => {
        const { headers, bytes: served } = await get(`image/${key}/${size}`);
        const { width, height, format } = await sharp(served).metadata();
        expect(headers.get('content-type')).toBe(`image/${format}`);
        return [width, height, format];
      }),
    );
  };
  const wide = await picture(3000, 1000).webp().toBuffer();
  expect(await sizes(wide)).toEqual([640, 1024, 1200, 1440, 2000].map(w => [w, Math.round(w / 3), 'webp']));
  const tall = await picture(1000, 2400).jpeg().toBuffer();
  expect((await sizes(tall)).map(([, height]) => height)).toEqual([320, 512, 600, 720, 1000]);
  const small = await picture(50, 40).png().toBuffer();
  expect(await sizes(small)).toEqual(Object.keys(frames).map(() => [50, 40, 'png']));
  const unknown = await get(`image/${await keep(small)}/HUGE`);
  expect(unknown.status).toBe(400);
  expect(String(unknown.bytes)).toContain('size must be one of SMALL, MEDIUM');
});

test('clients revalidate an image by its ETag each time', async () => {
  const key = await keep(await picture(10, 10).png().toBuffer());
  const tags = new Set<string>();
  for (const where of [`image/${key}`, `image/${key}/LARGE`]) {
    const { headers, bytes } = await get(where);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-length')).toBe(String(bytes.length));
    const tag = headers.get('etag') as string;
    tags.add(tag);
    const again = await get(where, { 'if-none-match': `"other", ${tag}` });
    expect([again.status, again.bytes.length, again.headers.get('etag')]).toEqual([304, 0, tag]);
    const head = await downloadFile(trace, user, where, {}, 'HEAD');
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of ['content-length', 'content-type', 'etag', 'cache-control']) {
      expect(head.headers.get(name), name).toBe(headers.get(name));
    }
  }
  expect(tags.size).toBe(2);
});

test('concurrent requests for a size get the same rendition', async () => {
  const key = await keep(await picture(3000, 2000).jpeg().toBuffer());
  const made = async () =>
    (await storedFiles(trace.folder)).filter(file => file.includes(key)).map(file => path.basename(file));
  expect(await made()).toEqual(['full', 'original']);
  const answers = await Promise.all(Array.from({ length: 20 }, () => get(`image/${key}/MEDIUM`)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(new Set(answers.map(({ bytes }) => bytes.toString('base64'))).size).toBe(1);
  expect(await made()).toEqual(['full', 'medium', 'original']);
});

/** A PNG of a few kilobytes with a given number of pixels. */
function pngBomb(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const around = Buffer.alloc(8);
    around.writeUInt32BE(data.length, 0);
    around.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const rows = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 9 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

test('content other than JPEG, PNG and WebP is refused, whatever its name', async () => {
  const jpeg = await picture(300, 300).jpeg().toBuffer();
  const refused: [string, string | Uint8Array, number, RegExp][] = [
    ['page.png', '<!doctype html><script>alert(1)</script>', 415, /must be a JPEG, PNG or WebP/],
    ['drawing.svg', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', 415, /must be a JPEG/],
    ['moving.jpg', await picture(9, 9).gif().toBuffer(), 415, /must be a JPEG/],
    ['polyglot.gif', `GIF89a/*${'x'.repeat(100)}*/=1;alert(1)`, 415, /must be a JPEG/],
    [
      'polyglot.png',
      Buffer.concat([pngBomb(9, 9).subarray(0, 33), Buffer.from('<script>alert(1)')]),
      400,
      /damaged/,
    ],
    ['truncated.jpg', jpeg.subarray(0, jpeg.length - 200), 400, /damaged/],
    ['header.jpg', jpeg.subarray(0, 30), 400, /damaged/],
    ['bomb.png', pngBomb(30_000, 30_000), 400, /more than 50 million pixels/],
    ['empty.jpg', '', 400, /file is empty/],
  ];
  for (const [name, bytes, status, sentence] of refused) {
    const answer = await uploadFile(trace, user, 'image', bytes, name);
    expect(answer.status, `${name}: ${answer.text}`).toBe(status);
    expect(answer.body.errorMessage, name).toMatch(sentence);
    if (status === 400) expect(answer.body.validationErrorDetails.fieldErrors.file, name).toMatch(sentence);
  }
  expect(await storedFiles(path.join(trace.folder, 'files/.receiving'))).toEqual([]);
});

test('data appended to a valid image is not served', async () => {
  const bytes = Buffer.concat([
    await picture(20, 20).jpeg().toBuffer(),
    Buffer.from('<script>alert(1)</script>'),
  ]);
  const key = await keep(bytes);
  expect((await get(`image/${key}`)).bytes.includes('script')).toBe(false);
});

test('a form has exactly one file, in the part file, within the size limit', async () => {
  const png = new Blob([new Uint8Array(await picture(9, 9).png().toBuffer())]);
  const form = (...parts: [string, Blob | string][]) => {
    const made = new FormData();
    for (const [name, value] of parts) made.append(name, value);
    return sendForm(trace, user, 'image', made);
  };
  expect((await form(['note', 'x'], ['file', png])).status).toBe(200);
  for (const parts of [[], ['picture'], ['file', 'file'], ['file', 'other']]) {
    const answer = await form(['note', 'x'], ...parts.map(name => [name, png] as [string, Blob]));
    expect(answer.status, parts.join()).toBe(400);
    expect(answer.body.validationErrorDetails.fieldErrors.file, parts.join()).toMatch(/^file /);
  }
  expect((await form(['file', 'a text'])).status).toBe(400);
  const large = (kind: 'image' | 'document', bytes: number) =>
    uploadFile(trace, user, kind, new Uint8Array(bytes));
  expect((await large('image', 10 * 1024 ** 2)).status).toBe(415);
  expect((await large('image', 10 * 1024 ** 2 + 1)).status).toBe(413);
  expect((await large('document', 25 * 1024 ** 2)).status).toBe(200);
  const answer = await large('document', 25 * 1024 ** 2 + 1);
  expect([answer.status, answer.body.errorMessage]).toEqual([413, 'file is larger than 25 MB']);
  expect((await user.send('POST', '/api/common/image', { file: 'x' })).status).toBe(415);
  const broken = { 'content-type': 'multipart/form-data; boundary=x' };
  expect((await user.send('POST', '/api/common/image', '--x\r\nContent-Disp', broken)).status).toBe(400);
});

test("a file's name is its last path element, on one line, and not too long", async () => {
  const png = await picture(9, 9).png().toBuffer();
  const nameOf = async (name: string) => (await uploadFile(trace, user, 'image', png, name)).body.data.name;
  expect(await nameOf('../../etc/passwd')).toBe('passwd');
  expect(await nameOf('C:\\fotos\\Zoë 写真.png')).toBe('Zoë 写真.png');
  expect(await nameOf('a\u0000b\u202Ec.png')).toBe('abc.png');
  expect(await nameOf(`${'x'.repeat(300)}.png`)).toBe('x'.repeat(255));
  expect(await nameOf('fotos/')).toBe('image');
});

test('a document is served unchanged, for download', async () => {
  const pdf = Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n');
  const html = Buffer.from('<!doctype html><script>alert(1)</script>');
  for (const [bytes, name, contentType] of [
    [pdf, 'Zertifikat für Ökö’s.pdf', 'application/pdf'],
    [html, 'page.pdf', 'application/octet-stream'],
    [await photo(), 'scan.jpg', 'image/jpeg'],
  ] as const) {
    const { body } = await uploadFile(trace, user, 'document', bytes, name);
    expect(body.data).toMatchObject({ name, contentType, size: bytes.length });
    const { headers, bytes: served } = await get(`document/${body.data.storageKey}`);
    expect(served.equals(bytes)).toBe(true);
    expect(headers.get('content-type')).toBe(contentType);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="/);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const again = await get(`document/${body.data.storageKey}`, {
      'if-none-match': headers.get('etag') as string,
    });
    expect(again.status).toBe(304);
    const head = await downloadFile(trace, user, `document/${body.data.storageKey}`, {}, 'HEAD');
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
    // Documents are not served as images, even photos: they keep their metadata.
    expect((await get(`image/${body.data.storageKey}`)).status).toBe(404);
  }
  expect((await get(`document/${await keep(await picture(9, 9).png().toBuffer())}`)).status).toBe(404);
});

test('images work in an S3 bucket, too', async () => {
  const s3 = await bucket();
  const withBucket = await runningTrace(s3.environment);
  try {
    const owner = await withBucket.loggedIn();
    const { body } = await uploadFile(withBucket, owner, 'image', await picture(900, 900).jpeg().toBuffer());
    const { bytes } = await downloadFile(withBucket, owner, `image/${body.data.storageKey}/SMALL`);
    expect((await sharp(bytes).metadata()).width).toBe(320);
    expect(await storedFiles(withBucket.folder)).toEqual([]);
  } finally {
    await withBucket.stop();
    await s3.stop();
  }
});
