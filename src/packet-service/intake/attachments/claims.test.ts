import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256, TUS, TUS_PATCH, upload } from '../../../../test/helpers/attachments.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';
import { newUlid, ulidToUuid } from '../../core/packet-format/ulid.ts';

let service: RunningService;
let amina: Record<string, string>;
let ben: Record<string, string>;
beforeAll(async () => {
  service = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET });
  amina = bearer(await secretToken('amina'));
  ben = bearer(await secretToken('ben'));
});
afterAll(() => service.stop());

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
const newId = () => `att_${newUlid()}`;

/** An attachment that a packet names before its file comes. */
async function named(headers: Record<string, string>, reference: object = {}): Promise<string> {
  const id = newId();
  await name({ id, ...reference }, headers);
  return id;
}

async function name(reference: object | string, headers: Record<string, string> = {}): Promise<void> {
  const body = { ...observation, attachments: ['elsewhere.jpg', reference] };
  const answer = await service.send('POST', '/intake/scouting', body, headers);
  expect(answer.status, answer.text).toBe(201);
}

const begin = (id: string, length: number, headers: Record<string, string>) =>
  service.send('POST', '/attachments/uploads', undefined, {
    ...TUS,
    'upload-length': String(length),
    'upload-metadata': `id ${Buffer.from(id).toString('base64')}`,
    ...headers,
  });

async function finish(begun: { headers: Headers }, bytes: Buffer, headers: Record<string, string>) {
  return fetch(service.url + begun.headers.get('location'), {
    method: 'PATCH',
    headers: { ...TUS_PATCH, 'upload-offset': '0', ...headers },
    body: new Uint8Array(bytes),
  });
}

test('if an id was first named with a token, only that user can upload the file', async () => {
  const id = await named(amina);
  // Referring to it again, as every reader of the packet can, gives no access to it.
  await name({ id }, ben);
  await name(id);
  for (const [headers, status] of [
    [{}, 401],
    [ben, 403],
  ] as const) {
    const refused = await upload(service, randomBytes(9), { id, headers });
    expect([refused.status, refused.body.error]).toEqual([status, expect.stringContaining(id)]);
    expect((await begin(id, 9, headers)).status).toBe(status);
  }
  const bytes = randomBytes(9);
  expect((await upload(service, bytes, { id, headers: amina })).status).toBe(201);
  // The same file again is accepted from every sender, another one is refused.
  expect((await upload(service, bytes, { id, headers: ben })).status).toBe(200);
  expect((await upload(service, randomBytes(9), { id, headers: amina })).status).toBe(409);
});

test("an id that was first named without a token is open, also to its readers; a new id is everyone's", async () => {
  const id = await named({});
  await name({ id }, amina);
  expect((await upload(service, randomBytes(9), { id, headers: ben })).status).toBe(201);
  expect((await upload(service, randomBytes(9), { id: newId() })).status).toBe(201);
});

test('a resumable upload that began before its id was named is held to the name as well', async () => {
  const id = newId();
  const bytes = randomBytes(9);
  const begun = await begin(id, 9, ben);
  expect(begun.status).toBe(201);
  await name({ id }, amina);
  expect((await finish(begun, bytes, ben)).status).toBe(403);
  const own = await begin(id, 9, amina);
  expect((await finish(own, bytes, amina)).status).toBe(204);
});

test('a sha256 in the reference is enforced for every uploader, in a form and in parts', async () => {
  const bytes = randomBytes(1000);
  for (const author of [{}, amina]) {
    const id = await named(author, { sha256: sha256(bytes).toUpperCase() });
    const other = await upload(service, randomBytes(1000), { id, headers: amina });
    expect([other.status, other.body.error]).toEqual([409, expect.stringContaining(sha256(bytes))]);
    const begun = await begin(id, 1000, amina);
    expect((await finish(begun, randomBytes(1000), amina)).status).toBe(409);
    expect((await upload(service, bytes, { id, headers: amina })).status).toBe(201);
  }
});

test('an invalid sha256 is an additional field, and the first to name an id decides', async () => {
  const id = await named({}, { sha256: 'unknown' });
  await name({ id, sha256: 'a'.repeat(64) });
  expect((await upload(service, randomBytes(9), { id })).status).toBe(201);
});

test('the first of many packets in one transaction that names an id decides', async () => {
  const id = newId();
  const items = Array.from({ length: 40 }, (_, n) => ({
    intake: 'scouting',
    body: { ...observation, attachments: [n === 0 ? { id, sha256: 'b'.repeat(64) } : id] },
  }));
  expect((await service.send('POST', '/intake/batch', items, amina)).status).toBe(200);
  const { rows } = await service.pool.query(
    `SELECT author, encode(sha256, 'hex') AS sha256 FROM attachment_claims WHERE attachment_id = $1`,
    [ulidToUuid(id.slice(4))],
  );
  expect(rows).toEqual([{ author: 'amina', sha256: 'b'.repeat(64) }]);
});

test('with AUTH_MODE=off callers are indistinguishable, and every file is accepted', async () => {
  const id = await named(amina);
  const off = await runningService({ AUTH_MODE: 'off' }, service);
  try {
    expect((await upload(off, randomBytes(9), { id })).status).toBe(201);
  } finally {
    await off.stop();
  }
});
