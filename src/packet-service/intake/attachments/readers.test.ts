import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { download, TUS, TUS_PATCH, upload } from '../../../../test/helpers/attachments.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { prove } from '../../../../test/helpers/sharing.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';
import { newUlid } from '../../core/packet-format/ulid.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ AUTH_MODE: 'optional', USER_REGISTRY_JWT_SECRET: JWT_SECRET });
});
afterAll(async () => {
  await service.stop();
});

const as = async (user: string) => bearer(await secretToken(user));
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

/** The status of a user's GET, HEAD and ranged GET of an attachment, which must be equal. */
async function read(id: string, user?: string): Promise<number> {
  const headers = user === undefined ? {} : await as(user);
  const { status } = await download(service, id, headers);
  expect((await service.send('HEAD', `/attachments/${id}`, undefined, headers)).status).toBe(status);
  const part = await download(service, id, { ...headers, range: 'bytes=0-0' });
  expect(part.status).toBe(status === 200 ? 206 : status);
  const known = await download(service, id, { ...headers, 'if-none-match': '*' });
  expect(known.status).toBe(status === 200 ? 304 : status);
  return status;
}

async function uploadedBy(user: string): Promise<string> {
  return (await upload(service, randomBytes(100), { headers: await as(user) })).body.attachment_id;
}

test('only the uploader can read an attachment that no packet refers to', async () => {
  const id = await uploadedBy('ana');
  expect(await read(id, 'ana')).toBe(200);
  expect(await read(id, 'ben')).toBe(403);
});

test('everyone can read an attachment of an observation, like the observation', async () => {
  const id = await uploadedBy('ana');
  await service.send('POST', '/intake/scouting', { ...observation, attachments: [{ id }] }, await as('ana'));
  expect(await read(id, 'ben')).toBe(200);
});

test('participants can read a picture in a conversation until they leave', async () => {
  const ana = await as('ana');
  const thread = (await service.send('POST', '/chat/threads', { name: 'x' }, ana)).body.thread_id;
  const id = await uploadedBy('ana');
  const message = { thread_id: thread, text: '', attachments: [id] };
  const sent = await service.send('POST', '/intake/chat-message', message, ana);
  expect(sent.status).toBe(201);
  expect(await read(id, 'ben')).toBe(403);
  const list = `/packets/${sent.body.packet_uuid}/attachments`;
  expect((await service.send('GET', list, undefined, await as('ben'))).status).toBe(403);

  const participants = `/chat/threads/${thread}/participants`;
  await service.send('POST', participants, { user_ids: ['ben'] }, ana);
  expect(await read(id, 'ben')).toBe(200);
  expect((await service.send('GET', list, undefined, await as('ben'))).status).toBe(200);
  await service.send('DELETE', `${participants}/ben`, undefined, await as('ben'));
  expect(await read(id, 'ben')).toBe(403);
});

test('a user with whom a message was shared reads its picture, and no other stranger does', async () => {
  const ana = await as('ana');
  const carla = `carla-${newUlid()}`;
  const contact = `${carla}@example.org`;
  await prove(service, carla, contact, await as(carla));
  const thread = (await service.send('POST', '/chat/threads', { name: 'x' }, ana)).body.thread_id;
  const id = await uploadedBy('ana');
  const message = { thread_id: thread, text: 'look', attachments: [id] };
  const packet = (await service.send('POST', '/intake/chat-message', message, ana)).body.packet_uuid;
  expect(await read(id, carla)).toBe(403);
  await service.send('POST', '/shares', { packet_id: packet, contact_value: contact }, ana);
  expect(await read(id, carla)).toBe(200);
  expect(await read(id, 'dora')).toBe(403);
});

test('without a token, only attachments uploaded without one can be read', async () => {
  expect(await read(await uploadedBy('ana'))).toBe(401);
  const anonymous = (await upload(service, randomBytes(10))).body.attachment_id;
  expect(await read(anonymous)).toBe(200);
  expect(await read(anonymous, 'ben')).toBe(403);
});

test('only its user can continue or cancel an upload', async () => {
  const ana = await as('ana');
  const begun = await service.send('POST', '/attachments/uploads', undefined, {
    ...ana,
    ...TUS,
    'upload-length': '4',
  });
  const path = begun.headers.get('location') as string;
  const patch = { ...TUS_PATCH, 'upload-offset': '0' };
  for (const [other, status] of [
    [await as('ben'), 403],
    [{}, 401],
  ] as const) {
    expect((await service.send('HEAD', path, undefined, { ...TUS, ...other })).status).toBe(status);
    expect((await service.send('PATCH', path, 'four', { ...patch, ...other })).status).toBe(status);
    expect((await service.send('DELETE', path, undefined, { ...TUS, ...other })).status).toBe(status);
  }
  expect((await service.send('PATCH', path, 'four', { ...patch, ...ana })).status).toBe(204);
  expect(await read(begun.body.attachment_id, 'ana')).toBe(200);
  expect(await read(begun.body.attachment_id, 'ben')).toBe(403);
});
