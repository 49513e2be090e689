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
