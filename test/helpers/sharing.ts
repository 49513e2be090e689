import { expect } from 'vitest';
import { newUlid } from '../../src/packet-service/core/packet-format/ulid.ts';
import type { Answer, RunningService } from './service.ts';

const observation = {
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: 1, lon: 2 },
  message: 'Secret leaf rust',
};

/** An address and a user that no other test uses. */
export function somebody(): { user: string; contact: string } {
  const name = newUlid().toLowerCase();
  return { user: `user-${name}`, contact: `${name}@example.org` };
}

export async function storedPacket({ send }: Pick<RunningService, 'send'>): Promise<string> {
  const answer = await send('POST', '/intake/scouting', observation);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.packet_uuid;
}

/** Shares a packet; ana does, unless another is named. */
export function share(
  { send }: Pick<RunningService, 'send'>,
  packet: string,
  contact: string,
  from = 'ana',
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = { packet_id: packet, from_user: from, contact_value: contact };
  return send('POST', '/shares', body, headers);
}

/** Puts a user into the directory of a service that is open. */
export async function enter(
  { send }: Pick<RunningService, 'send'>,
  user: string,
  contacts: string[],
  discoverable = true,
): Promise<void> {
  const answer = await send('PUT', `/directory/users/${user}`, { contacts, discoverable });
  expect(answer.status, answer.text).toBe(200);
}

/**
 * Lists a contact of a user and confirms it with their token, as by the link of a mail.
 *
 * @param headers the user's token
 */
export async function prove(
  { send, pool }: Pick<RunningService, 'send' | 'pool'>,
  user: string,
  contact: string,
  headers: Record<string, string>,
  discoverable = true,
): Promise<void> {
  const at = `/directory/users/${user}`;
  const earlier = await send('GET', at, undefined, headers);
  const contacts = [...(earlier.body.contacts ?? []), contact];
  const listed = await send('PUT', at, { contacts, discoverable }, headers);
  expect(listed.status, listed.text).toBe(200);
  const secret = newUlid();
  await pool.query(
    `INSERT INTO directory_confirmations (token_hash, user_id, contact, expires_at)
     VALUES (sha256(convert_to($1, 'UTF8')), $2, $3, now() + interval '1 day')`,
    [secret, user, contact.toLowerCase()],
  );
  const confirmed = await send('POST', `/directory/confirmations/${secret}`, {}, headers);
  expect(confirmed.status, confirmed.text).toBe(200);
  expect(confirmed.body.unconfirmed).not.toContain(contact.toLowerCase());
}

/** A link of an invitation to a contact, as a mail brings it: its token. */
export async function invitationTo({ pool }: Pick<RunningService, 'pool'>, contact: string): Promise<string> {
  const token = newUlid();
  await pool.query(
    `INSERT INTO invitation_tokens (token_hash, contact, expires_at)
     VALUES (sha256(convert_to($1, 'UTF8')), $2, now() + interval '1 day')`,
    [token, contact],
  );
  return token;
}

export interface InboxShare {
  share_id: string;
  packet_id: string;
  from_user: string;
  status: string;
  created_at: string;
}

export async function inbox(
  { send }: Pick<RunningService, 'send'>,
  user: string,
  query = '',
  headers: Record<string, string> = {},
): Promise<InboxShare[]> {
  const answer = await send('GET', `/shares/inbox?user_id=${user}${query}`, undefined, headers);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.shares;
}
