import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUlid } from '../src/packet-service/core/packet-format/ulid.ts';
import { TUS, TUS_PATCH, upload } from './helpers/attachments.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { type MediaTypes, mediaTypesOf } from './helpers/media-types.ts';
import { quickSender } from './helpers/quick-send.ts';
import { type Answer, type RunningService, runningService } from './helpers/service.ts';
import { prove } from './helpers/sharing.ts';
import {
  bearer,
  claims,
  JWT_SECRET,
  secretToken,
  type TraceKeys,
  traceKeys,
} from './helpers/user-registry.ts';

/** The records that exist before a request, all created with tokens. */
interface World {
  owner: string;
  /** takes part in the thread, owns nothing */
  participant: string;
  thread: string;
  /** the owner's, in the thread */
  message: string;
  /** with the owner, by the participant, pending */
  share: string;
  /** a file of the owner's, which the message names */
  attachment: string;
  /** path of an upload that the owner has begun */
  upload: string;
  /** GeoID of a field that the owner has registered */
  field: string;
  /** longitude of its south-western corner */
  longitude: number;
}

/** The callers. Nobody has no token; administrators have one that says so, and nothing else. */
type Role = 'nobody' | 'other' | 'participant' | 'owner' | 'administrator' | 'regionalAdmin';
const ROLES: Role[] = ['nobody', 'other', 'regionalAdmin', 'administrator', 'participant', 'owner'];

/**
 * What roles are answered with AUTH_MODE=optional; an administrator like any other user, unless it is said, and an
 * administrator of a region always.
 */
type Statuses = Record<Exclude<Role, 'administrator' | 'regionalAdmin'>, number> & { administrator?: number };
/** The roles that tokens of the trace backend name. */
const TOKEN_ROLES: Partial<Record<Role, string>> = {
  administrator: 'SYSTEM_ADMIN',
  regionalAdmin: 'REGIONAL_ADMIN',
};

/** One route: a good request to it, and what the roles are answered. */
interface Row {
  path?: (world: World) => string;
  /** @param user as whom the request is made */
  body?: (world: World, user: string) => unknown;
  headers?: Record<string, string>;
  statuses: Statuses;
  /** answered to anyone, whatever AUTH_MODE says */
  open?: true;
  /** never ends on its own */
  endless?: true;
  /** can be done once alone: each caller gets a separate world */
  once?: true;
  /** changes what others ask for: the callers get a separate world, in turn */
  changes?: true;
}

const everyone = (status: number): Statuses => ({
  nobody: status,
  other: status,
  participant: status,
  owner: status,
});
/** For those who take part in a thread that was made with a token. */
const participants = (status: number): Statuses => ({
  nobody: 401,
  other: 403,
  participant: status,
  owner: status,
});
/** For the user of the token that something was made with. */
const theOwner = (status: number): Statuses => ({ nobody: 401, other: 403, participant: 403, owner: status });
/** For administrators of the trace backend. */
const administrators: Statuses = {
  nobody: 401,
  other: 403,
  participant: 403,
  owner: 403,
  administrator: 200,
};
/** For the user whom the request names, and whom nobody may name without a token. */
const theNamed = (status: number): Statuses => ({ nobody: 403, other: 403, participant: 403, owner: status });

const point = { lat: 1, lon: 2 };
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: point };
/** A square field with sides of a number of degrees; each world has its own ground. */
const field = (west: number, south: number, width: number) => ({
  type: 'Feature',
  properties: {},
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [west + width, south],
        [west + width, south + width],
        [west, south + width],
        [west, south],
      ],
    ],
  },
});

function finalized(header: object, body: object) {
  const Header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type: 'note', ...header };
  const Body = { attachments: [], ...body };
  const hash = createHash('sha256')
    .update(`${canonicalize(Header)}${canonicalize(Body)}`)
    .digest('hex');
  return { Header, Body, Footer: { hash, enc: 'none', lang: 'und' } };
}

const inThread = (rest: string) => (world: World) => `/chat/threads/${world.thread}${rest}`;
const ofOwner = (path: string) => (world: World) => path.replace('{owner}', world.owner);
const ofMessage = (rest: string) => (world: World) => `/packets/${world.message}${rest}`;
const attachment = (world: World) => `/attachments/${world.attachment}`;
const begunUpload = (world: World) => world.upload;
const ownField = (world: World) => `/fields/${world.field}`;
const unknown = 'x'.repeat(43);
const form = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\na\r\n--x--\r\n';
const open = { open: true, statuses: everyone(200) } as const;

/** The permissions. Every route of the running service has a row here. */
const TABLE: Record<string, Row> = {
  'GET /health': open,
  'GET /health/ready': open,
  'GET /health/live': open,
  'POST /intake/scouting': { body: () => observation, statuses: everyone(201) },
  'POST /intake/chat-message': {
    body: (world, from_user) => ({ thread_id: world.thread, text: 'hello', from_user }),
    statuses: participants(201),
  },
  'POST /intake/batch': {
    body: () => [{ intake: 'scouting', body: observation }],
    statuses: everyone(200),
  },
  'GET /packets': { statuses: everyone(200) },
  'GET /packets/arrivals': { path: () => '/packets/arrivals?from=2026-03-01', statuses: everyone(200) },
  'POST /packets': {
    body: (world, from_user) =>
      finalized({ type: 'chat_message' }, { text: 'x', thread_id: world.thread, from_user }),
    statuses: participants(201),
  },
  'GET /packets.csv': { statuses: everyone(200) },
  'GET /packets.ndjson': { statuses: everyone(200) },
  'GET /packets.geojson': { statuses: everyone(200) },
  'GET /tiles/observations/{z}/{x}/{y}.mvt': {
    path: () => '/tiles/observations/0/0/0.mvt',
    statuses: everyone(200),
  },
  'GET /tiles/fields/{z}/{x}/{y}.mvt': { path: () => '/tiles/fields/0/0/0.mvt', statuses: everyone(200) },
  'GET /packets/{id}': { path: ofMessage(''), statuses: participants(200) },
  'GET /packets/{id}/verify': { path: ofMessage('/verify'), statuses: participants(200) },
  'GET /packets/{id}/attachments': { path: ofMessage('/attachments'), statuses: participants(200) },
  'POST /attachments': {
    body: () => form,
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    statuses: everyone(201),
  },
  'GET /attachments/{id}': { path: attachment, statuses: participants(200) },
  'HEAD /attachments/{id}': { path: attachment, statuses: participants(200) },
  'OPTIONS /attachments/uploads': { open: true, statuses: everyone(204) },
  'POST /attachments/uploads': { headers: { ...TUS, 'upload-length': '1' }, statuses: everyone(201) },
  'HEAD /attachments/uploads/{upload_id}': { path: begunUpload, headers: TUS, statuses: theOwner(200) },
  'PATCH /attachments/uploads/{upload_id}': {
    path: begunUpload,
    body: () => 'x',
    headers: { ...TUS_PATCH, 'upload-offset': '0' },
    statuses: theOwner(204),
    once: true,
  },
  'DELETE /attachments/uploads/{upload_id}': {
    path: begunUpload,
    headers: TUS,
    statuses: theOwner(204),
    once: true,
  },
  // A field inside the owner's.
  'PUT /fields': {
    body: ({ longitude }) => field(longitude + 0.001, 1.001, 0.001),
    statuses: { nobody: 401, other: 403, participant: 403, owner: 200, administrator: 200 },
    once: true,
  },
  'GET /fields': { statuses: everyone(200) },
  'GET /fields.geojson': { statuses: everyone(200) },
  'GET /fields/names': { path: () => `/fields/names?geoids=${'0'.repeat(64)}`, statuses: everyone(200) },
  'GET /fields/{geoid}': { path: ownField, statuses: everyone(200) },
  'DELETE /fields/{geoid}': {
    path: ownField,
    statuses: { ...theOwner(204), administrator: 204 },
    once: true,
  },
  'POST /chat/threads': {
    body: (_world, created_by) => ({ name: 'Coffee', created_by }),
    statuses: everyone(201),
  },
  'GET /chat/threads': { path: ofOwner('/chat/threads?user_id={owner}'), statuses: theNamed(200) },
  'GET /chat/threads/{thread_id}': { path: inThread(''), statuses: participants(200) },
  'PATCH /chat/threads/{thread_id}': {
    path: inThread(''),
    body: () => ({ name: 'Renamed' }),
    statuses: participants(200),
  },
  'POST /chat/threads/{thread_id}/participants': {
    path: inThread('/participants'),
    body: () => ({ user_ids: ['zawadi'] }),
    statuses: participants(200),
  },
  'GET /chat/threads/{thread_id}/participants': {
    path: inThread('/participants'),
    statuses: participants(200),
  },
  'DELETE /chat/threads/{thread_id}/participants/{user_id}': {
    path: world => `/chat/threads/${world.thread}/participants/${world.owner}`,
    statuses: theNamed(204),
    once: true,
  },
  'PUT /chat/threads/{thread_id}/read': {
    path: inThread('/read'),
    body: ({ message }, user_id) => ({ message_id: message, user_id }),
    statuses: participants(200),
  },
  'GET /chat/unread': { path: ofOwner('/chat/unread?user_id={owner}'), statuses: theNamed(200) },
  'GET /chat/threads/{thread_id}/messages': { path: inThread('/messages'), statuses: participants(200) },
  'POST /chat/query': {
    body: (_world, user_id) => ({ user_id, keyword: 'secret' }),
    statuses: everyone(200),
  },
  'POST /shares': {
    body: (world, from_user) => ({
      packet_id: world.message,
      from_user,
      contact_value: 'someone@example.org',
    }),
    statuses: participants(201),
  },
  'GET /packets/{id}/shares': {
    path: ({ message, owner }) => `/packets/${message}/shares?user_id=${owner}`,
    statuses: theNamed(200),
  },
  'GET /people/names': { path: ({ owner }) => `/people/names?user_ids=${owner}`, statuses: everyone(200) },
  'GET /shares/inbox': { path: ofOwner('/shares/inbox?user_id={owner}'), statuses: theNamed(200) },
  'POST /shares/{share_id}/accept': {
    path: world => `/shares/${world.share}/accept`,
    body: (_world, user_id) => ({ user_id }),
    statuses: theOwner(200),
    changes: true,
  },
  'POST /shares/{share_id}/reject': {
    path: world => `/shares/${world.share}/reject`,
    body: (_world, user_id) => ({ user_id }),
    statuses: theOwner(200),
    changes: true,
  },
  'GET /': { path: () => '/', ...open },
  'GET /invitations': {
    path: ({ owner }) => `/invitations?user_id=${owner}&contact_value=${owner}@example.org`,
    statuses: theOwner(200),
  },
  'POST /invitations/accept': {
    body: ({ owner }, user_id) => ({ user_id, contact_value: `${owner}@example.org` }),
    statuses: theOwner(200),
    changes: true,
  },
  'GET /invitations/{token}': { path: () => `/invitations/${unknown}`, ...open },
  'GET /invitations/{token}/expiry': {
    path: () => `/invitations/${unknown}/expiry`,
    statuses: everyone(404),
  },
  'POST /invitations/{token}/accept': {
    path: () => `/invitations/${unknown}/accept`,
    body: (_world, user_id) => ({ user_id }),
    statuses: everyone(404),
  },
  'PUT /directory/users/{user_id}': {
    path: ofOwner('/directory/users/{owner}'),
    body: () => ({ contacts: [], discoverable: true }),
    statuses: theNamed(200),
    changes: true,
  },
  'GET /directory/users/{user_id}': { path: ofOwner('/directory/users/{owner}'), statuses: theNamed(200) },
  'DELETE /directory/users/{user_id}': {
    path: ofOwner('/directory/users/{owner}'),
    statuses: theNamed(204),
    changes: true,
  },
  'GET /directory/confirmations/{token}': { path: () => `/directory/confirmations/${unknown}`, ...open },
  'POST /directory/confirmations/{token}': {
    path: () => `/directory/confirmations/${unknown}`,
    body: (_world, user_id) => ({ user_id }),
    statuses: everyone(404),
  },
  'GET /administration/metrics': { statuses: administrators },
  'GET /administration/jobs': { statuses: administrators },
  'GET /administration/dead-letters': { statuses: administrators },
  'POST /administration/dead-letters/replay': { body: () => ({}), statuses: administrators },
  'DELETE /administration/dead-letters/{notification_id}/{channel}': {
    path: () => `/administration/dead-letters/${newUlid()}/mail`,
    statuses: { ...administrators, administrator: 404 },
  },
  'GET /notifications': { path: ofOwner('/notifications?user_id={owner}'), statuses: theNamed(200) },
  'GET /events': { path: ofOwner('/events?user_id={owner}'), statuses: theNamed(200), endless: true },
  'GET /sync/packets': { path: ofOwner('/sync/packets?since=0&user_id={owner}'), statuses: theNamed(200) },
  'POST /graph/materialize': { body: () => ({}), statuses: everyone(200) },
  'GET /vocab': open,
  'GET /graph': open,
};

/** The service in each AUTH_MODE, over one database. */
let registry: TraceKeys;
let required: RunningService;
let optional: RunningService;
let off: RunningService;
let mediaTypes: MediaTypes;
beforeAll(async () => {
  registry = await traceKeys();
  const key = registry.settings;
  const { folder, remove } = await temporaryFolder();
  removeFolder = remove;
  required = await runningService({ ...key, AUTH_MODE: 'required', DATA_DIR: folder });
  optional = await runningService({ ...key, DATA_DIR: folder }, required);
  off = await runningService({ ...key, AUTH_MODE: 'off', DATA_DIR: folder }, required);
  mediaTypes = await mediaTypesOf(required.send, '/openapi.json');
});
let removeFolder: () => Promise<void>;
afterAll(async () => {
  await off.stop();
  await optional.stop();
  await required.stop();
  await registry.stop();
  await removeFolder();
});

let worlds = 0;

async function makeWorld(): Promise<World> {
  const [owner, participant] = [`owner-${newUlid()}`, `participant-${newUlid()}`];
  const headers = bearer(await registry.token(owner));
  const other = bearer(await registry.token(participant));
  const made = async (
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = headers,
  ) => {
    const answer = await required.send(method, path, body, more);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer;
  };
  const thread = (await made('POST', '/chat/threads', { name: 'Coffee' })).body.thread_id;
  await made('POST', `/chat/threads/${thread}/participants`, { user_ids: [participant] });
  const { attachment_id: attachment } = (await upload(required, 'a secret', { headers })).body;
  const sent = { thread_id: thread, text: 'a secret', attachments: [attachment] };
  const message = (await made('POST', '/intake/chat-message', sent)).body.packet_uuid;
  const contact = `${owner}@example.org`;
  await prove(required, owner, contact, headers);
  const shared = { packet_id: message, contact_value: contact };
  const share = (await made('POST', '/shares', shared, other)).body.share_id;
  const begun = await made('POST', '/attachments/uploads', undefined, {
    ...headers,
    ...TUS,
    'upload-length': '2',
  });
  const longitude = -170 + 0.02 * worlds++;
  const registered = await made('PUT', '/fields', field(longitude, 1, 0.004));
  return {
    owner,
    participant,
    thread,
    message,
    share,
    attachment,
    upload: begun.headers.get('location') as string,
    field: registered.body.fields[0].geoid,
    longitude,
  };
}

let common: Promise<World> | undefined;

/** A world for a route: all that leave it as it is for others have one, others each have a separate one. */
function worldFor(row: Row): Promise<World> {
  if (row.once || row.changes) return makeWorld();
  common ??= makeWorld();
  return common;
}

/** The user of a role in a world, and their token. */
async function identity(role: Role, world: World): Promise<{ user: string; token: string | undefined }> {
  const users = {
    nobody: 'visitor',
    other: 'stranger',
    administrator: 'root',
    regionalAdmin: 'regional',
    ...world,
  };
  const user = users[role];
  if (role === 'nobody') return { user, token: undefined };
  const named = TOKEN_ROLES[role];
  return { user, token: await registry.token(user, named === undefined ? {} : { role: named }) };
}

async function requestAs(
  at: RunningService,
  route: string,
  world: World,
  { user, token }: { user: string; token: string | undefined },
  more: Record<string, string> = {},
): Promise<Answer> {
  const [method, pattern] = route.split(' ') as [string, string];
  const row = TABLE[route] as Row;
  const path = row.path ? row.path(world) : pattern;
  const headers = { ...row.headers, ...(token !== undefined && bearer(token)), ...more };
  if (!row.endless) return quickSender(at.url)(method, path, row.body?.(world, user), headers);
  const leave = new AbortController();
  const response = await fetch(at.url + path, { signal: leave.signal, headers });
  const text = response.ok ? '' : await response.text();
  leave.abort();
  const body = text ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, body };
}

test('the table lists exactly the routes of the service', async () => {
  const { body } = await required.send('GET', '/openapi.json');
  const routes = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  );
  expect(routes.sort()).toEqual(Object.keys(TABLE).sort());
});

const CASES = Object.entries(TABLE);

/** Has every role ask: in turn, if that changes what others ask for, or each in a world of its own. */
async function requestAsAll(row: Row, look: (role: Role, world: World) => Promise<void>): Promise<void> {
  if (row.changes) {
    const world = await worldFor(row);
    for (const role of ROLES) await look(role, world);
  } else await Promise.all(ROLES.map(async role => look(role, await worldFor(row))));
}

function statusOf({ statuses }: Row, role: Role): number {
  if (role === 'administrator') return statuses.administrator ?? statuses.other;
  return role === 'regionalAdmin' ? statuses.other : statuses[role];
}

test.each(CASES)('AUTH_MODE=optional: %s', (route, row) =>
  requestAsAll(row, async (role, world) => {
    const answer = await requestAs(optional, route, world, await identity(role, world));
    expect(answer.status, `${role}: ${answer.text}`).toBe(statusOf(row, role));
    if (role !== 'participant' && role !== 'owner') expect(answer.text, role).not.toContain('a secret');
  }),
);

test.each(CASES)('AUTH_MODE=required: %s', (route, row) =>
  requestAsAll(row, async (role, world) => {
    const answer = await requestAs(required, route, world, await identity(role, world));
    const expected = role === 'nobody' && !row.open ? 401 : statusOf(row, role);
    expect(answer.status, `${role}: ${answer.text}`).toBe(expected);
    if (role !== 'participant' && role !== 'owner') expect(answer.text, role).not.toContain('a secret');
  }),
);

test.each(CASES)('%s: the definition has the media type of every answer', async (route, row) => {
  const { accepts, wrongIn } = mediaTypes;
  const own = row.changes ? await worldFor(row) : undefined;
  await Promise.all(
    accepts.map(async accept => {
      const world = own ?? (await worldFor(row));
      const answer = await requestAs(required, route, world, await identity('owner', world), { accept });
      expect(answer.status, `Accept: ${accept} ${answer.text}`).not.toBe(503);
      expect(wrongIn(route, answer), `Accept: ${accept}`).toBeUndefined();
    }),
  );
});

// Tokens are not looked at: a request that names the owner counts as the owner's, whatever its token.
test.each(CASES)('AUTH_MODE=off: %s', (route, row) =>
  requestAsAll(row, async (role, world) => {
    const { token } = await identity(role, world);
    const answer = await requestAs(off, route, world, { user: world.owner, token });
    expect(answer.status, `${role}: ${answer.text}`).toBe(row.statuses.owner);
  }),
);

test.each(CASES)('%s: with an invalid token', async (route, row) => {
  // Nothing changes: all are refused, or open.
  common ??= makeWorld();
  const world = await common;
  const past = Math.floor(Date.now() / 1000) - 3600;
  const bad: Record<string, string> = {
    expired: await registry.token(world.owner, { exp: past }),
    refresh: await registry.token(world.owner, { type: 'refresh' }),
    'not activated': await registry.token(world.owner, { is_activated: false }),
    'another algorithm': await secretToken(world.owner, {}, JWT_SECRET, 'HS512'),
    unsigned: new UnsecuredJWT(claims(world.owner)).encode(),
    'another secret': await secretToken(world.owner, {}, 'not the secret that is shared'),
  };
  for (const at of [optional, required]) {
    await Promise.all(
      Object.entries(bad).map(async ([kind, token]) => {
        const answer = await requestAs(at, route, world, { user: world.owner, token });
        expect(answer.status, kind).toBe(row.open ? row.statuses.owner : 401);
        if (!row.open && !route.startsWith('HEAD')) expect(Object.keys(answer.body)).toEqual(['error']);
      }),
    );
  }
});

test("a user identifier in the request may only repeat the token's user", async () => {
  const headers = bearer(await registry.token('ana'));
  const requests: [string, string, unknown][] = [
    ['POST', '/chat/threads', { name: 'x', created_by: 'ben' }],
    ['GET', '/chat/threads?user_id=ben', undefined],
    ['POST', '/chat/query', { user_id: 'ben' }],
  ];
  for (const [method, path, body] of requests) {
    expect((await required.send(method, path, body, headers)).status, path).toBe(403);
  }
  expect((await required.send('GET', '/chat/threads?user_id=ana', undefined, headers)).status).toBe(200);
});

test('a message that was shared with a user is readable by that user, and by no other non-participant', async () => {
  const world = await makeWorld();
  const recipient = `recipient-${newUlid()}`;
  const contact = `${recipient}@example.org`;
  const read = async (user: string) =>
    (await required.send('GET', `/packets/${world.message}`, undefined, bearer(await registry.token(user))))
      .status;
  expect(await read(recipient)).toBe(403);
  await prove(required, recipient, contact, bearer(await registry.token(recipient)));
  const headers = bearer(await registry.token(world.owner));
  await required.send('POST', '/shares', { packet_id: world.message, contact_value: contact }, headers);
  expect(await read(recipient)).toBe(200);
  expect(await read('stranger')).toBe(403);
});

test('lists leave out messages of threads in which the user is not a participant', async () => {
  const world = await makeWorld();
  const seen = async (user: string) => {
    const { body } = await required.send(
      'GET',
      '/packets?type=chat_message&limit=1000',
      undefined,
      bearer(await registry.token(user)),
    );
    return body.packets.some((packet: { Header: { id: string } }) => packet.Header.id === world.message);
  };
  expect(await seen(world.owner)).toBe(true);
  expect(await seen('stranger')).toBe(false);
});
