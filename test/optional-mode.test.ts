import { afterAll, beforeAll, expect, test } from 'vitest';
import { packetHash } from '../src/packet-service/core/packet-format/hash.ts';
import { canonicalJson } from '../src/packet-service/core/packet-format/jcs.ts';
import { newUlid } from '../src/packet-service/core/packet-format/ulid.ts';
import { download, TUS, TUS_PATCH, upload } from './helpers/attachments.ts';
import { type ContactRegistry, contactRegistry } from './helpers/contact-registry.ts';
import { eventually } from './helpers/eventually.ts';
import { openFeed } from './helpers/feed.ts';
import { type Answer, type RunningService, runningService } from './helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from './helpers/user-registry.ts';

// AUTH_MODE=optional: what a request without a token reaches of what was made with one, and what it may call itself.

type Headers = Record<string, string>;

let registry: ContactRegistry;
let service: RunningService;
/** another process of the same service */
let other: RunningService;
let ana: Headers;
/** a thread, a message in it with a file, an observation with a file, and a share, all made with Ana's token */
let owned: Record<'thread' | 'message' | 'file' | 'observation' | 'share' | 'upload', string>;

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

beforeAll(async () => {
  registry = await contactRegistry();
  const settings = { USER_REGISTRY_JWT_SECRET: JWT_SECRET, USER_REGISTRY_URL: registry.url };
  service = await runningService(settings);
  other = await runningService(settings, service);
  ana = bearer(await secretToken('ana'));
  const thread = (await make('/chat/threads', { name: 'Ours' }, ana)).thread_id;
  // Somebody who has never had a token takes part, and is shared with.
  await service.send('POST', `/chat/threads/${thread}/participants`, { user_ids: ['nomad'] }, ana);
  registry.holders.set('nomad@example.org', { user_id: 'nomad', discoverable: true });
  const file = (await upload(service, 'a secret file', { headers: ana })).body.attachment_id;
  const said = { thread_id: thread, text: 'a secret word', attachments: [file] };
  const message = (await make('/intake/chat-message', said, ana)).packet_uuid;
  const seen = { ...observation, message: 'seen by all', attachments: [file] };
  const open = (await make('/intake/scouting', seen, ana)).packet_uuid;
  const shared = { packet_id: open, contact_value: 'nomad@example.org' };
  const share = (await make('/shares', shared, ana)).share_id;
  const begin = { ...ana, ...TUS, 'upload-length': '2' };
  const begun = await service.send('POST', '/attachments/uploads', undefined, begin);
  owned = {
    thread,
    message,
    file,
    observation: open,
    share,
    upload: begun.headers.get('location') as string,
  };
});
afterAll(async () => {
  await other.stop();
  await service.stop();
  await registry.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
async function make(path: string, body: object, headers: Headers = {}): Promise<any> {
  const answer = await service.send('POST', path, body, headers);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

function finalized(body: object) {
  const header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type: 'chat_message' };
  const hash = packetHash(canonicalJson(header), canonicalJson(body));
  return { Header: header, Body: body, Footer: { hash, enc: 'none', lang: 'en' } };
}

const send = (method: string, path: string, body?: unknown, headers?: Headers): Promise<Answer> =>
  other.send(method, path, body, headers);

test('a thread made with a token, its messages, shares and files are 401 to a request without one', async () => {
  const { thread, message, file, share } = owned;
  const closed: [string, string, unknown?, Headers?][] = [
    ['GET', `/chat/threads/${thread}/messages`],
    ['PATCH', `/chat/threads/${thread}`, { name: 'Mine' }],
    ['POST', `/chat/threads/${thread}/participants`, { user_ids: ['visitor'] }],
    ['DELETE', `/chat/threads/${thread}/participants/nomad`],
    ['POST', '/intake/chat-message', { thread_id: thread, text: 'hello' }],
    ['POST', '/intake/chat-message', { thread_id: thread, text: 'hello', from_user: 'nomad' }],
    ['POST', '/packets', finalized({ thread_id: thread, text: 'hello', from_user: 'nomad' })],
    ['GET', `/packets/${message}`],
    ['GET', `/packets/${message}/verify`],
    ['GET', `/packets/${message}/attachments`],
    ['POST', '/shares', { packet_id: message, from_user: 'visitor', contact_value: 'x@example.org' }],
    ['POST', `/shares/${share}/accept`, { user_id: 'nomad' }],
    ['POST', `/shares/${share}/reject`, { user_id: 'nomad' }],
    ['GET', `/attachments/${file}`],
    ['HEAD', `/attachments/${file}`],
    ['HEAD', owned.upload, undefined, TUS],
    ['PATCH', owned.upload, 'x', { ...TUS_PATCH, 'upload-offset': '0' }],
    ['DELETE', owned.upload, undefined, TUS],
  ];
  for (const [method, path, body, headers] of closed) {
    const answer = await send(method, path, body, headers);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(401);
    expect(answer.text).not.toContain('secret');
  }
  const batch = [{ intake: 'chat-message', body: { thread_id: thread, text: 'hello' } }];
  expect((await send('POST', '/intake/batch', batch)).body.results[0].status).toBe(401);
  expect((await send('GET', `/packets/${message}`, undefined, ana)).status).toBe(200);
  expect((await download(service, file, ana)).bytes.toString()).toBe('a secret file');
});

test('lists leave out what was made with a token, and keep observations', async () => {
  const { thread, message, observation: open, share } = owned;
  const lists: [string, string, unknown?][] = [
    ['GET', '/packets?limit=1000'],
    ['GET', '/packets?type=chat_message'],
    ['GET', '/sync/packets?since=0&limit=1000'],
    ['GET', '/sync/packets?since=0&user_id=nomad'],
    ['POST', '/graph/materialize', {}],
    ['POST', '/graph/materialize', { packet_id: message }],
    ['GET', '/chat/threads?user_id=nomad'],
    ['POST', '/chat/query', { user_id: 'nomad' }],
    ['POST', '/chat/query', { user_id: 'nomad', keyword: 'secret' }],
    ['GET', '/shares/inbox?user_id=nomad'],
    ['GET', '/notifications?user_id=nomad'],
  ];
  for (const [method, path, body] of lists) {
    const { status, text } = await send(method, path, body);
    expect(status, `${method} ${path}: ${text}`).toBe(200);
    for (const hidden of [thread, message, share, 'secret']) {
      expect(text, `${method} ${path}`).not.toContain(hidden);
    }
  }
  const page = await send('GET', '/packets?limit=1000', undefined, { accept: 'application/geo+json' });
  expect(page.text).toContain(open);
  expect(page.text).not.toContain(message);
  const carried = await send('GET', `/packets/${open}/attachments`);
  expect(carried.body).toEqual({ attachments: [] });
  const nomad = bearer(await secretToken('nomad-with-a-token'));
  await service.send(
    'POST',
    `/chat/threads/${thread}/participants`,
    { user_ids: ['nomad-with-a-token'] },
    ana,
  );
  expect((await send('POST', '/chat/query', { keyword: 'secret' }, nomad)).text).toContain(message);
});

test('an id from a token belongs to its user in every process, from the first request on', async () => {
  await service.send('PUT', '/directory/users/late', { contacts: [], discoverable: true });
  const open = (await make('/chat/threads', { name: 'Open', created_by: 'late' })).thread_id;
  const claims: [string, string, unknown?][] = [
    ['POST', '/chat/threads', { name: 'x', created_by: 'late' }],
    ['GET', '/chat/threads?user_id=late'],
    ['POST', '/intake/chat-message', { thread_id: open, text: 'x', from_user: 'late' }],
    ['POST', '/packets', finalized({ thread_id: open, text: 'x', from_user: 'late' })],
    ['POST', '/shares', { packet_id: owned.observation, from_user: 'late', contact_value: 'a@example.org' }],
    ['GET', '/shares/inbox?user_id=late'],
    ['POST', '/chat/query', { user_id: 'late' }],
    ['GET', '/notifications?user_id=late'],
    ['GET', '/sync/packets?user_id=late'],
    ['GET', '/directory/users/late'],
    ['PUT', '/directory/users/late', { contacts: [], discoverable: true }],
    ['DELETE', `/chat/threads/${open}/participants/late`],
    ['DELETE', '/directory/users/late'],
    ['GET', '/events?user_id=late'],
  ];
  const status = async ([method, path, body]: (typeof claims)[number]) =>
    (await send(method, path, body)).status;
  for (const claim of claims.slice(0, 11)) expect(await status(claim), claim.join(' ')).toBeLessThan(300);

  await service.send('GET', '/packets?limit=1', undefined, bearer(await secretToken('late')));
  for (const claim of claims) expect(await status(claim), claim.join(' ')).toBe(403);
  const batch = [{ intake: 'chat-message', body: { thread_id: open, text: 'x', from_user: 'late' } }];
  expect((await send('POST', '/intake/batch', batch)).body.results[0].status).toBe(403);
  expect((await send('POST', '/intake/scouting', { ...observation, from_user: 'late' })).status).toBe(201);
});

test('an anonymous feed has only events of anonymous threads and shares, also when it resumes', async () => {
  const feed = await openFeed(other.url, 'nomad');
  const thread_id = (await make('/chat/threads', { name: 'Open', created_by: 'nomad' })).thread_id;
  await make('/intake/chat-message', { thread_id: owned.thread, text: 'a secret too' }, ana);
  const packet_id = (await make('/intake/scouting', observation)).packet_uuid;
  await make('/shares', { packet_id, contact_value: 'nomad@example.org' }, ana);
  const shared = { packet_id, from_user: 'visitor', contact_value: 'nomad@example.org' };
  const { share_id } = await make('/shares', shared);
  const message = (await make('/intake/chat-message', { thread_id, text: 'hello' })).packet_uuid;
  await eventually(() => feed.events.length === 2);
  const delivered = () => feed.events.map(({ data }) => data.share_id ?? data.packet_id);
  expect(delivered()).toEqual([share_id, message]);
  expect(Object.keys(feed.events[0]?.data).sort()).toEqual(
    ['created_at', 'from_user', 'notification_id', 'packet_id', 'share_id', 'type', 'user_id'].sort(),
  );
  feed.close();

  const resumed = await openFeed(other.url, 'nomad', '0');
  await eventually(() => resumed.events.length >= 2);
  expect(resumed.events.map(({ data }) => data.share_id ?? data.packet_id)).toEqual([share_id, message]);
  resumed.close();
});

test("an invitation that a token's user sent is accepted with a token only", async () => {
  const contact_value = `${newUlid().toLowerCase()}@example.org`;
  const shared = { packet_id: owned.observation, contact_value };
  const { invitation_id } = await make('/shares', shared, ana);
  const token = 'x'.repeat(43);
  await service.pool.query(
    `INSERT INTO invitation_tokens (token_hash, contact, expires_at)
     VALUES (sha256(convert_to($1, 'UTF8')), $2, now() + interval '1 day')`,
    [token, contact_value],
  );
  expect((await send('POST', `/invitations/${token}/accept`, { user_id: 'visitor' })).status).toBe(401);
  // Claiming the contact does not give it to another user either.
  const entry = { contacts: [contact_value], discoverable: true };
  expect((await send('PUT', '/directory/users/visitor', entry)).status).toBe(200);
  expect((await send('GET', '/shares/inbox?user_id=visitor')).text).not.toContain(invitation_id);
  const guest = bearer(await secretToken('guest'));
  expect((await send('POST', `/invitations/${token}/accept`, {}, guest)).status).toBe(200);
  expect((await send('GET', '/shares/inbox', undefined, guest)).text).toContain(invitation_id);
});

test('nothing is closed with AUTH_MODE=off, and everything with required', async () => {
  const off = await runningService({ AUTH_MODE: 'off' }, service);
  expect((await off.send('GET', `/packets/${owned.message}`)).status).toBe(200);
  expect((await off.send('GET', '/chat/threads?user_id=ana')).text).toContain(owned.thread);
  expect((await off.send('GET', '/packets?type=chat_message')).text).toContain(owned.message);
  await off.stop();
  const required = await runningService(
    { AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET },
    service,
  );
  expect((await required.send('GET', `/packets/${owned.observation}`)).status).toBe(401);
  await required.stop();
});
