import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUlid } from '../src/packet-service/packet/ulid.ts';
import { TUS, TUS_PATCH, upload } from './helpers/attachments.ts';
import { type Answer, type RunningService, runningService } from './helpers/service.ts';
import { bearer, claims, JWT_SECRET, secretToken } from './helpers/user-registry.ts';

/** What exists when a request is made: a thread of `member`, who wrote one message in it. */
interface World {
  member: string;
  thread: string;
  message: string;
  /** a share with the member, pending */
  share: string;
  /** a file of the member's, which the message names */
  attachment: string;
  /** path of an upload that the member has begun */
  upload: string;
}

/** One route: a good request to it, and what the two kinds of user are answered. */
interface Row {
  path?: (world: World) => string;
  body?: (world: World, user: string) => unknown;
  headers?: Record<string, string>;
  /** takes part in the thread, owns what the path names */
  member: number;
  /** any other user of the registry */
  stranger: number;
  /** answered to anyone */
  open?: true;
  /** never ends by itself */
  endless?: true;
}

const point = { lat: 1, lon: 2 };
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: point };
const field = {
  type: 'Feature',
  properties: {},
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [29.1, -1.2],
        [29.101, -1.2],
        [29.101, -1.199],
        [29.1, -1.2],
      ],
    ],
  },
};

function finalized(header: object, body: object) {
  const Header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type: 'note', ...header };
  const Body = { attachments: [], ...body };
  const hash = createHash('sha256')
    .update(`${canonicalize(Header)}${canonicalize(Body)}`)
    .digest('hex');
  return { Header, Body, Footer: { hash, enc: 'none', lang: 'und' } };
}

const inThread = (rest: string) => (world: World) => `/chat/threads/${world.thread}${rest}`;

/** Who may what. Every route of the running service has a row here. */
const ofMember = (path: string) => (world: World) => path.replace('{member}', world.member);
const unknown = 'x'.repeat(43);

const attachment = (world: World) => `/attachments/${world.attachment}`;
const begunUpload = (world: World) => world.upload;
const form = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\na\r\n--x--\r\n';

const TABLE: Record<string, Row> = {
  'GET /health': { member: 200, stranger: 200, open: true },
  'GET /health/ready': { member: 200, stranger: 200, open: true },
  'GET /health/live': { member: 200, stranger: 200, open: true },
  'POST /intake/scouting': { body: () => observation, member: 201, stranger: 201 },
  'POST /intake/chat-message': {
    body: world => ({ thread_id: world.thread, text: 'hello' }),
    member: 201,
    stranger: 403,
  },
  'POST /intake/batch': {
    body: () => [{ intake: 'scouting', body: observation }],
    member: 200,
    stranger: 200,
  },
  'GET /packets': { member: 200, stranger: 200 },
  'POST /packets': {
    body: (world, user) =>
      finalized({ type: 'chat_message' }, { text: 'x', thread_id: world.thread, from_user: user }),
    member: 201,
    stranger: 403,
  },
  'GET /packets/{id}': { path: world => `/packets/${world.message}`, member: 200, stranger: 403 },
  'GET /packets/{id}/verify': {
    path: world => `/packets/${world.message}/verify`,
    member: 200,
    stranger: 403,
  },
  'GET /packets/{id}/attachments': {
    path: world => `/packets/${world.message}/attachments`,
    member: 200,
    stranger: 403,
  },
  'POST /attachments': {
    body: () => form,
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    member: 201,
    stranger: 201,
  },
  'GET /attachments/{id}': { path: attachment, member: 200, stranger: 403 },
  'HEAD /attachments/{id}': { path: attachment, member: 200, stranger: 403 },
  'OPTIONS /attachments/uploads': { member: 204, stranger: 204, open: true },
  'POST /attachments/uploads': {
    headers: { ...TUS, 'upload-length': '1' },
    member: 201,
    stranger: 201,
  },
  'HEAD /attachments/uploads/{upload_id}': { path: begunUpload, headers: TUS, member: 200, stranger: 403 },
  'PATCH /attachments/uploads/{upload_id}': {
    path: begunUpload,
    body: () => 'x',
    headers: { ...TUS_PATCH, 'upload-offset': '0' },
    member: 204,
    stranger: 403,
  },
  'DELETE /attachments/uploads/{upload_id}': { path: begunUpload, headers: TUS, member: 204, stranger: 403 },
  'PUT /fields': { body: () => field, member: 200, stranger: 200 },
  'GET /fields': { member: 200, stranger: 200 },
  'GET /fields/{geoid}': { path: () => `/fields/${'0'.repeat(64)}`, member: 404, stranger: 404 },
  'DELETE /fields/{geoid}': { path: () => `/fields/${'0'.repeat(64)}`, member: 404, stranger: 404 },
  'POST /chat/threads': { body: () => ({ name: 'Coffee' }), member: 201, stranger: 201 },
  'GET /chat/threads': { member: 200, stranger: 200 },
  'PATCH /chat/threads/{thread_id}': {
    path: inThread(''),
    body: () => ({ name: 'Renamed' }),
    member: 200,
    stranger: 403,
  },
  'POST /chat/threads/{thread_id}/participants': {
    path: inThread('/participants'),
    body: () => ({ user_ids: ['zawadi'] }),
    member: 200,
    stranger: 403,
  },
  'DELETE /chat/threads/{thread_id}/participants/{user_id}': {
    path: world => `/chat/threads/${world.thread}/participants/${world.member}`,
    member: 204,
    stranger: 403,
  },
  'GET /chat/threads/{thread_id}/messages': { path: inThread('/messages'), member: 200, stranger: 403 },
  'POST /shares': {
    body: world => ({ packet_id: world.message, contact_value: 'someone@example.org' }),
    member: 201,
    stranger: 403,
  },
  'GET /shares/inbox': { path: ofMember('/shares/inbox?user_id={member}'), member: 200, stranger: 403 },
  'POST /shares/{share_id}/accept': {
    path: world => `/shares/${world.share}/accept`,
    body: () => ({}),
    member: 200,
    stranger: 403,
  },
  'POST /shares/{share_id}/reject': {
    path: world => `/shares/${world.share}/reject`,
    body: () => ({}),
    member: 200,
    stranger: 403,
  },
  'GET /invitations/{token}': {
    path: () => `/invitations/${unknown}`,
    member: 200,
    stranger: 200,
    open: true,
  },
  'POST /invitations/{token}/accept': {
    path: () => `/invitations/${unknown}/accept`,
    body: () => ({}),
    member: 404,
    stranger: 404,
  },
  'PUT /directory/users/{user_id}': {
    path: ofMember('/directory/users/{member}'),
    body: () => ({ contacts: [], discoverable: true }),
    member: 200,
    stranger: 403,
  },
  'GET /directory/users/{user_id}': {
    path: ofMember('/directory/users/{member}'),
    member: 200,
    stranger: 403,
  },
  'DELETE /directory/users/{user_id}': {
    path: ofMember('/directory/users/{member}'),
    member: 204,
    stranger: 403,
  },
  'GET /directory/confirmations/{token}': {
    path: () => `/directory/confirmations/${unknown}`,
    member: 200,
    stranger: 200,
    open: true,
  },
  'POST /directory/confirmations/{token}': {
    path: () => `/directory/confirmations/${unknown}`,
    body: () => ({}),
    member: 404,
    stranger: 404,
  },
  'GET /notifications': { path: ofMember('/notifications?user_id={member}'), member: 200, stranger: 403 },
  'GET /events': { path: ofMember('/events?user_id={member}'), member: 200, stranger: 403, endless: true },
  'GET /sync/packets': {
    path: ofMember('/sync/packets?since=0&user_id={member}'),
    member: 200,
    stranger: 403,
  },
  'POST /graph/materialize': { body: () => ({}), member: 200, stranger: 200 },
  'GET /vocab': { member: 200, stranger: 200, open: true },
  'GET /graph': { member: 200, stranger: 200, open: true },
  'POST /chat/query': { body: () => ({ keyword: 'secret' }), member: 200, stranger: 200 },
};

let service: RunningService;
let open: RunningService;
beforeAll(async () => {
  service = await runningService({ AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET });
  open = await runningService({ AUTH_MODE: 'off' }, service);
});
afterAll(async () => {
  await open.stop();
  await service.stop();
});

async function makeWorld(): Promise<World> {
  const member = `member-${newUlid()}`;
  const headers = bearer(await secretToken(member));
  const thread = (await service.send('POST', '/chat/threads', { name: 'Coffee' }, headers)).body.thread_id;
  const { attachment_id: attachment } = (await upload(service, 'a secret', { headers })).body;
  const sent = { thread_id: thread, text: 'a secret', attachments: [attachment] };
  const message = (await service.send('POST', '/intake/chat-message', sent, headers)).body.packet_uuid;
  // As somebody without tokens may do it elsewhere: the member can be found, and is shown a packet.
  const contact = `${member}@example.org`;
  await open.send('PUT', `/directory/users/${member}`, { contacts: [contact], discoverable: true });
  const shared = { packet_id: message, from_user: 'another', contact_value: contact };
  const share = (await open.send('POST', '/shares', shared)).body.share_id;
  const begin = { ...headers, ...TUS, 'upload-length': '2' };
  const begun = await service.send('POST', '/attachments/uploads', undefined, begin);
  return { member, thread, message, share, attachment, upload: begun.headers.get('location') as string };
}

async function ask(route: string, world: World, user: string, token?: string): Promise<Answer> {
  const [method, pattern] = route.split(' ') as [string, string];
  const row = TABLE[route] as Row;
  const path = row.path ? row.path(world) : pattern;
  if (row.endless) {
    const leave = new AbortController();
    const response = await fetch(service.url + path, {
      signal: leave.signal,
      headers: token ? bearer(token) : {},
    });
    const text = response.ok ? '' : await response.text();
    leave.abort();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text ? JSON.parse(text) : undefined,
    };
  }
  const headers = { ...row.headers, ...(token !== undefined && bearer(token)) };
  return service.send(method, path, row.body?.(world, user), headers);
}

test('every route of the service stands in the table, and nothing else', async () => {
  const { body } = await service.send('GET', '/openapi.json');
  const routes = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  );
  expect(routes.sort()).toEqual(Object.keys(TABLE).sort());
});

test.each(Object.entries(TABLE))('%s: who takes part, and a stranger', async (route, row) => {
  const world = await makeWorld();
  const stranger = await ask(route, world, 'stranger', await secretToken('stranger'));
  expect(stranger.status, stranger.text).toBe(row.stranger);
  expect(stranger.text).not.toContain('a secret');
  const member = await ask(route, world, world.member, await secretToken(world.member));
  expect(member.status, member.text).toBe(row.member);
});

test.each(Object.entries(TABLE))('%s: without a good token', async (route, row) => {
  const world = await makeWorld();
  const past = Math.floor(Date.now() / 1000) - 3600;
  const bad: Record<string, string | undefined> = {
    'no token': undefined,
    expired: await secretToken(world.member, { exp: past }),
    refresh: await secretToken(world.member, { type: 'refresh' }),
    'not activated': await secretToken(world.member, { is_activated: false }),
    'another algorithm': await secretToken(world.member, {}, JWT_SECRET, 'HS512'),
    unsigned: new UnsecuredJWT(claims(world.member)).encode(),
    'another secret': await secretToken(world.member, {}, 'not the secret that is shared'),
  };
  for (const [kind, token] of Object.entries(bad)) {
    const answer = await ask(route, world, world.member, token);
    expect(answer.status, kind).toBe(row.open ? row.member : 401);
    if (!row.open && !route.startsWith('HEAD')) expect(Object.keys(answer.body)).toEqual(['error']);
  }
});

test('a user identifier in the request may only repeat the token`s user', async () => {
  const headers = bearer(await secretToken('ana'));
  const requests: [string, string, unknown][] = [
    ['POST', '/chat/threads', { name: 'x', created_by: 'ben' }],
    ['GET', '/chat/threads?user_id=ben', undefined],
    ['POST', '/chat/query', { user_id: 'ben' }],
  ];
  for (const [method, path, body] of requests) {
    expect((await service.send(method, path, body, headers)).status, path).toBe(403);
  }
  expect((await service.send('GET', '/chat/threads?user_id=ana', undefined, headers)).status).toBe(200);
});

test('a message that was shared with a user is readable by that user, and by no other stranger', async () => {
  const world = await makeWorld();
  const recipient = `recipient-${newUlid()}`;
  const contact = `${recipient}@example.org`;
  const read = async (user: string) =>
    (await service.send('GET', `/packets/${world.message}`, undefined, bearer(await secretToken(user))))
      .status;
  expect(await read(recipient)).toBe(403);
  await open.send('PUT', `/directory/users/${recipient}`, { contacts: [contact], discoverable: true });
  const headers = bearer(await secretToken(world.member));
  await service.send('POST', '/shares', { packet_id: world.message, contact_value: contact }, headers);
  expect(await read(recipient)).toBe(200);
  expect(await read('stranger')).toBe(403);
});

test('lists leave out the messages of threads that a user takes no part in', async () => {
  const world = await makeWorld();
  const seen = async (user: string) => {
    const { body } = await service.send(
      'GET',
      '/packets?type=chat_message&limit=1000',
      undefined,
      bearer(await secretToken(user)),
    );
    return body.packets.some((packet: { Header: { id: string } }) => packet.Header.id === world.message);
  };
  expect(await seen(world.member)).toBe(true);
  expect(await seen('stranger')).toBe(false);
});
