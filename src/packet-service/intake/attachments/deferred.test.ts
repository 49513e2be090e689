import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
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
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type Bucket, bucket } from '../../../../test/helpers/s3.ts';
import { type Answer, type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { newUlid } from '../../core/packet-format/ulid.ts';

const MAX = 5_000_000;

let s3: Bucket;
let folder: RunningService;
/** A service whose files are in a bucket. */
let inBucket: RunningService;
let data: { folder: string; remove: () => Promise<void> };
const settings = () => ({ DATA_DIR: data.folder, MAX_ATTACHMENT_BYTES: String(MAX) });
beforeAll(async () => {
  s3 = await bucket();
  data = await temporaryFolder();
  folder = await runningService({ ...settings(), CORS_ORIGINS: 'https://field.example' });
  inBucket = await runningService({ ...s3.environment, MAX_ATTACHMENT_BYTES: String(MAX) });
});
afterAll(async () => {
  await inBucket.stop();
  await folder.stop();
  await s3.stop();
  await data.remove();
});

const DEFERRED = { ...TUS, 'upload-defer-length': '1' };

async function begun(at: RunningService, headers: object = {}): Promise<{ path: string; id: string }> {
  const made = await at.send('POST', '/attachments/uploads', undefined, { ...DEFERRED, ...headers });
  expect(made.status, made.text).toBe(201);
  return { path: made.headers.get('location') as string, id: made.body.attachment_id };
}

function patch(
  at: RunningService,
  path: string,
  offset: number,
  bytes: Uint8Array,
  length?: number,
): Promise<Answer> {
  const declared: Record<string, string> = length === undefined ? {} : { 'upload-length': String(length) };
  return at.send('PATCH', path, bytes, { ...TUS_PATCH, 'upload-offset': String(offset), ...declared });
}

/** The answer of HEAD: offset, length, and whether the length is deferred. */
async function uploadState(at: RunningService, path: string): Promise<(string | null)[]> {
  const { headers } = await at.send('HEAD', path, undefined, TUS);
  return ['upload-offset', 'upload-length', 'upload-defer-length'].map(name => headers.get(name));
}

test('a common tus client uploads a stream whose length it learns at its end', async () => {
  for (const at of [folder, inBucket]) {
    const bytes = randomBytes(3_300_000);
    const id = `att_${newUlid()}`;
    await new Promise<void>((resolve, reject) => {
      const client = new TusUpload(Readable.from([bytes.subarray(0, 1_500_000), bytes.subarray(1_500_000)]), {
        endpoint: `${at.url}/attachments/uploads`,
        metadata: { id },
        uploadLengthDeferred: true,
        chunkSize: 1_000_000,
        onSuccess: () => resolve(),
        onError: reject,
      });
      client.start();
    });
    expect(sha256((await download(at, id)).bytes)).toBe(sha256(bytes));
  }
});

test('the length can come before, with or after the last byte, across restarts, and is reported from then on', async () => {
  const bytes = randomBytes(300);
  const first = await runningService(settings(), folder);
  const uploads = await Promise.all([begun(first), begun(first), begun(first)]);
  const [before, along, after] = uploads as [(typeof uploads)[0], (typeof uploads)[0], (typeof uploads)[0]];
  for (const { path } of uploads) {
    expect(await uploadState(first, path)).toEqual(['0', null, '1']);
    expect((await patch(first, path, 0, bytes.subarray(0, 100))).status).toBe(204);
  }
  expect((await patch(first, before.path, 100, bytes.subarray(100, 200), 300)).status).toBe(204);
  await first.stop();

  expect(await uploadState(folder, before.path)).toEqual(['200', '300', null]);
  expect(await uploadState(folder, along.path)).toEqual(['100', null, '1']);
  expect((await patch(folder, before.path, 200, bytes.subarray(200))).status).toBe(204);
  expect((await patch(folder, along.path, 100, bytes.subarray(100), 300)).status).toBe(204);
  expect((await patch(folder, after.path, 100, bytes.subarray(100))).status).toBe(204);
  expect((await download(folder, after.id)).status).toBe(404);
  const last = await patch(folder, after.path, 300, Buffer.alloc(0), 300);
  expect([last.status, last.headers.get('upload-expires')]).toEqual([204, null]);
  for (const { path, id } of uploads) {
    expect(await uploadState(folder, path)).toEqual(['300', '300', null]);
    expect(sha256((await download(folder, id)).bytes)).toBe(sha256(bytes));
    // The last answer may have been lost.
    expect((await patch(folder, path, 300, Buffer.alloc(0), 300)).status).toBe(204);
  }
  expect((await storedFiles(data.folder)).filter(file => file.startsWith('uploads/'))).toEqual([]);

  const empty = await begun(folder);
  expect((await patch(folder, empty.path, 0, Buffer.alloc(0))).status).toBe(204);
  expect((await download(folder, empty.id)).status).toBe(404);
  expect((await patch(folder, empty.path, 0, Buffer.alloc(0), 0)).status).toBe(204);
  expect((await download(folder, empty.id)).bytes).toHaveLength(0);
});

test('requests that violate the protocol or the limits are refused, and change nothing', async () => {
  const begin = async (headers: Record<string, string>) => {
    const { status, body } = await folder.send('POST', '/attachments/uploads', undefined, headers);
    return [status, body.error];
  };
  const needed = 'Upload-Length is required, or Upload-Defer-Length: 1 instead';
  expect(await begin(TUS)).toEqual([400, needed]);
  expect(await begin({ ...DEFERRED, 'upload-length': '5' })).toEqual([400, needed]);
  for (const value of ['0', '2', 'true', '']) {
    const [status, error] = await begin({ ...TUS, 'upload-defer-length': value });
    expect([status, error], value).toEqual([400, expect.stringMatching(/defer-length/i)]);
  }

  const { path } = await begun(folder);
  expect((await patch(folder, path, 0, randomBytes(200))).status).toBe(204);
  const refused = async (status: number, offset: number, bytes: Uint8Array, length?: number) => {
    const answer = await patch(folder, path, offset, bytes, length);
    expect([answer.status, Object.keys(answer.body)]).toEqual([status, ['error']]);
  };
  await refused(413, 200, randomBytes(1), MAX + 1);
  await refused(400, 200, Buffer.alloc(0), 199);
  await refused(400, 200, randomBytes(1), 200);
  await refused(409, 0, randomBytes(1), 300);
  expect(await uploadState(folder, path)).toEqual(['200', null, '1']);
  await refused(400, 200, randomBytes(101), 300);
  expect(await uploadState(folder, path)).toEqual(['200', '300', null]);
  await refused(400, 200, randomBytes(1), 301);
  expect((await patch(folder, path, 200, randomBytes(100), 300)).status).toBe(204);

  const endless = (await begun(folder)).path;
  const sent = await patch(folder, endless, 0, randomBytes(MAX + 1));
  expect([sent.status, sent.body.error]).toEqual([413, expect.stringContaining('MAX_ATTACHMENT_BYTES')]);
});

test('an id that belongs to another file is refused when the file is here', async () => {
  const id = `att_${newUlid()}`;
  await upload(folder, 'twelve bytes', { id });
  const metadata = { 'upload-metadata': `id ${btoa(id)}` };
  const other = await begun(folder, metadata);
  expect((await patch(folder, other.path, 0, Buffer.from('other'), 5)).status).toBe(409);
  const same = await begun(folder, metadata);
  expect((await patch(folder, same.path, 0, Buffer.from('twelve bytes'), 12)).status).toBe(204);
  expect(String((await download(folder, id)).bytes)).toBe('twelve bytes');
});

test('a page of another origin can send and read the headers', async () => {
  const { path } = await begun(folder);
  const origin = { origin: 'https://field.example' };
  const head = await folder.send('HEAD', path, undefined, { ...TUS, ...origin });
  expect(head.headers.get('access-control-expose-headers')).toContain('upload-defer-length');
  const preflightHeaders = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'upload-defer-length',
  };
  const preflight = await folder.send('OPTIONS', path, undefined, { ...origin, ...preflightHeaders });
  expect(preflight.headers.get('access-control-allow-headers')).toContain('upload-defer-length');
});
