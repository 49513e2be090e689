import { hash } from 'node:crypto';
import { packetHash } from '../../src/packet-service/core/packet-format/hash.ts';
import { canonicalJson } from '../../src/packet-service/core/packet-format/jcs.ts';
import { newUlid, ulidToUuid } from '../../src/packet-service/core/packet-format/ulid.ts';
import { TUS, TUS_PATCH } from '../helpers/attachments.ts';
import type { Answer } from '../helpers/service.ts';
import { bearer, secretToken } from '../helpers/user-registry.ts';
import type { Request } from './client.ts';
import { ABSENT } from './ledger.ts';
import type { Story, Teller } from './story.ts';

const at = '2026-03-01T08:15:00Z';
const BATCH = 5;
const FORM = { 'content-type': 'multipart/form-data; boundary=x' };

const observation = (mark: string) => ({ observed_at: at, capture_point: { lat: 1, lon: 2 }, mark });

/** A form with one file, whose name is by default its text. */
export const formOf = (text: string, name = text): Pick<Request, 'body' | 'headers'> => ({
  body: `--x\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n${text}\r\n--x--\r\n`,
  headers: FORM,
});

/** The state of a file whose name is its text, and what its bytes are known by. */
export const fileState = (text: string) => [`${text} ${text.length}`, hash('sha256', text)] as const;

const observe: Story = async ({ mark, send, made }) => {
  const { body } = await send({ endpoint: 'POST /intake/scouting', key: mark, body: observation(mark) });
  made('packet', ulidToUuid(body.packet_uuid), mark);
};

const chat: Story = async teller => {
  const { mark, send, made } = teller;
  const thread = await openThread(teller);
  let last = '';
  for (const n of [1, 2, 3]) {
    const own = `${mark}.${n}`;
    const { body } = await send({
      endpoint: 'POST /intake/chat-message',
      key: own,
      body: { thread_id: thread.ulid, from_user: mark, text: own, mark: own },
    });
    last = body.packet_uuid;
    made('packet', ulidToUuid(last), own);
  }
  await send({
    endpoint: 'PUT /chat/threads/{thread_id}/read',
    at: { thread_id: thread.ulid },
    body: { message_id: last, user_id: mark },
  });
};

async function openThread({ mark, send, made }: Teller) {
  const { body } = await send({
    endpoint: 'POST /chat/threads',
    key: mark,
    body: { name: mark, created_by: mark },
  });
  const ulid = body.thread_id as string;
  return { ulid, fact: made('thread', ulidToUuid(ulid), `${mark}: ${mark}`) };
}

const thread: Story = async teller => {
  const { mark, change } = teller;
  const { ulid, fact } = await openThread(teller);
  const parameters = { thread_id: ulid };
  const guest = `${mark}-guest`;
  await change(fact, `${mark} renamed: ${mark}`, {
    endpoint: 'PATCH /chat/threads/{thread_id}',
    at: parameters,
    body: { name: `${mark} renamed` },
  });
  await change(fact, `${mark} renamed: ${mark}, ${guest}`, {
    endpoint: 'POST /chat/threads/{thread_id}/participants',
    at: parameters,
    body: { user_ids: [guest] },
  });
  if (teller.n % 2) return;
  await change(fact, `${mark} renamed: ${mark}`, {
    endpoint: 'DELETE /chat/threads/{thread_id}/participants/{user_id}',
    at: { ...parameters, user_id: guest },
    done: [404],
  });
};

const batch: Story = async ({ mark, send, made }) => {
  const marks = Array.from({ length: BATCH }, (_, n) => `${mark}.${n}`);
  const items = marks.map(own => ({ intake: 'scouting', idempotency_key: own, body: observation(own) }));
  const idsOf = ({ body }: Answer) =>
    (body.results as { packet_uuid?: string }[]).map(({ packet_uuid }) => packet_uuid);
  const whole = (answer: Answer) => idsOf(answer).every(id => id !== undefined);
  const answer = await send({ endpoint: 'POST /intake/batch', body: items }, whole);
  for (const [n, id] of idsOf(answer).entries()) made('packet', ulidToUuid(id as string), marks[n] as string);
};

const finalized: Story = async ({ mark, send, made }) => {
  const Header = { id: newUlid(), geoid: 'g', timestamp: at, type: 'note' };
  const Body = { attachments: [], mark };
  const digest = packetHash(canonicalJson(Header), canonicalJson(Body));
  const packet = { Header, Body, Footer: { hash: digest, enc: 'none', lang: 'und' } };
  await send({ endpoint: 'POST /packets', body: packet });
  made('packet', ulidToUuid(Header.id), mark);
};

async function storedPacket({ mark, send }: Teller): Promise<string> {
  const { body } = await send({
    endpoint: 'POST /intake/scouting',
    key: `${mark}.p`,
    body: observation(`${mark}.p`),
  });
  return body.packet_uuid;
}

const share: Story = async teller => {
  const { mark, n, send, made, change } = teller;
  const contact = `${mark}@example.org`;
  const recipient = `${mark}-recipient`;
  const entry = { at: { user_id: recipient } };
  const body = { contacts: [contact], discoverable: true };
  await send({ endpoint: 'PUT /directory/users/{user_id}', ...entry, body });
  const listed = made('directory', recipient, `true ${contact} confirmed`);
  const wanted = { packet_id: await storedPacket(teller), from_user: mark, contact_value: contact };
  const shared = await send({ endpoint: 'POST /shares', key: mark, body: wanted });
  const { share_id } = shared.body;
  const fact = made('share', ulidToUuid(share_id), 'pending');
  const decision = { at: { share_id }, body: { user_id: recipient } };
  if (n % 2) await change(fact, 'accepted', { endpoint: 'POST /shares/{share_id}/accept', ...decision });
  else await change(fact, 'rejected', { endpoint: 'POST /shares/{share_id}/reject', ...decision });
  const gone = { endpoint: 'DELETE /directory/users/{user_id}', ...entry, done: [404] };
  await change(listed, ABSENT, gone);
};

const invitation: Story = async teller => {
  const { mark, send, made, change, mailed } = teller;
  const contact = `${mark}@example.org`;
  const wanted = { packet_id: await storedPacket(teller), from_user: mark, contact_value: contact };
  const { body } = await send({ endpoint: 'POST /shares', key: mark, body: wanted });
  const fact = made('share', ulidToUuid(body.invitation_id), 'invited');
  const token = await mailed(contact);
  const user = `${mark}-invited`;
  await change(fact, 'pending', {
    endpoint: 'POST /invitations/{token}/accept',
    at: { token },
    key: mark,
    body: { user_id: user },
  });
  made('directory', user, `true ${contact} confirmed`);
};

/** A contact whose address is confirmed, but who cannot be found by it. */
const waiting: Story = async teller => {
  const { mark, send, made, change, mailed } = teller;
  const headers = bearer(await secretToken(mark));
  const contact = `${mark}@example.org`;
  await send({
    endpoint: 'PUT /directory/users/{user_id}',
    at: { user_id: mark },
    body: { contacts: [contact], discoverable: false },
    headers,
  });
  const listed = made('directory', mark, `false ${contact} claimed`);
  await change(listed, `false ${contact} confirmed`, {
    endpoint: 'POST /directory/confirmations/{token}',
    at: { token: await mailed(contact) },
    key: `${mark}.c`,
    body: {},
    headers,
  });
  const from_user = `${mark}-sender`;
  const wanted = { packet_id: await storedPacket(teller), from_user, contact_value: contact };
  const { body } = await send({ endpoint: 'POST /shares', key: mark, body: wanted });
  const fact = made('share', ulidToUuid(body.invitation_id), 'invited');
  const own = { contact_value: contact };
  await change(fact, 'pending', { endpoint: 'POST /invitations/accept', key: mark, body: own, headers });
};

const confirmation: Story = async ({ mark, send, made, change, mailed }) => {
  const headers = bearer(await secretToken(mark));
  const contact = `${mark}@example.org`;
  await send({
    endpoint: 'PUT /directory/users/{user_id}',
    at: { user_id: mark },
    body: { contacts: [contact], discoverable: true },
    headers,
  });
  const fact = made('directory', mark, `true ${contact} claimed`);
  await change(fact, `true ${contact} confirmed`, {
    endpoint: 'POST /directory/confirmations/{token}',
    at: { token: await mailed(contact) },
    key: mark,
    body: {},
    headers,
  });
};

/** A triangle of its own for each number, 100 m wide and in rows that keep clear of each other. */
const field: Story = async ({ mark, n, send, made, change }) => {
  const [west, south] = [10 + (n % 10_000) * 0.002, -40 + Math.floor(n / 10_000) * 0.002];
  const corner = (east: number, north: number) => [west + east, south + north];
  const ring = [corner(0, 0), corner(0.001, 0), corner(0.001, 0.001), corner(0, 0)];
  const body = { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } };
  const headers = bearer(await secretToken(mark));
  const answer = await send({ endpoint: 'PUT /fields', body, headers });
  const { geoid } = answer.body.fields[0];
  const fact = made('field', geoid, JSON.stringify([ring]));
  if (n % 2) return;
  await change(fact, ABSENT, { endpoint: 'DELETE /fields/{geoid}', at: { geoid }, headers, done: [404] });
};

const attachment: Story = async ({ mark, send, made }) => {
  const { body } = await send({ endpoint: 'POST /attachments', key: mark, ...formOf(mark) });
  made('attachment', ulidToUuid(body.attachment_id.slice(4)), ...fileState(mark));
};

/** A resumable upload in two parts, or given up after the first. An upload that is begun twice is one more that expires. */
const upload: Story = async ({ mark, n, send, made, change }) => {
  const metadata = `filename ${Buffer.from(mark).toString('base64')}`;
  const half = mark.length >> 1;
  const begun = await send({
    endpoint: 'POST /attachments/uploads',
    headers: { ...TUS, 'upload-length': String(mark.length), 'upload-metadata': metadata },
  });
  const upload_id = begun.headers.get('location')?.split('/').at(-1) as string;
  const fact = made('upload', upload_id, `0 of ${mark.length}`);
  const part = (from: number, to: number): Request => ({
    endpoint: 'PATCH /attachments/uploads/{upload_id}',
    at: { upload_id },
    body: mark.slice(from, to),
    headers: { ...TUS_PATCH, 'upload-offset': String(from) },
    // Nobody else sends it: where the upload does not end there any more, this part has come.
    done: [409],
  });
  await change(fact, `${half} of ${mark.length}`, part(0, half));
  if (n % 2) {
    const gone = { endpoint: 'DELETE /attachments/uploads/{upload_id}', at: { upload_id }, headers: TUS };
    await change(fact, ABSENT, { ...gone, done: [404] });
    return;
  }
  await change(fact, `${mark.length} of ${mark.length}`, part(half, mark.length));
  made('attachment', ulidToUuid(begun.body.attachment_id.slice(4)), ...fileState(mark));
};

/** The stories of clients of the packet service, with their total number. */
export const PACKET_STORIES: Readonly<Record<string, { share: number; story: Story }>> = {
  observe: { share: 30, story: observe },
  chat: { share: 8, story: chat },
  thread: { share: 5, story: thread },
  batch: { share: 10, story: batch },
  finalized: { share: 12, story: finalized },
  share: { share: 5, story: share },
  invitation: { share: 3, story: invitation },
  waiting: { share: 3, story: waiting },
  confirmation: { share: 3, story: confirmation },
  field: { share: 5, story: field },
  attachment: { share: 5, story: attachment },
  upload: { share: 5, story: upload },
};
