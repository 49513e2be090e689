import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { bodyCheck } from '../../platform/http/validation.ts';
import { actingUser } from '../access/caller.ts';
import { checkText, MAX_TEXT, truncate } from '../chat/messages/message.ts';
import { ChatMessageBody } from '../chat/schemas.ts';
import type { ThreadCheck } from '../chat/threads/thread-check.ts';

const checkBody = bodyCheck(Type.Object({ Body: ChatMessageBody }));

/**
 * Holds a finalized chat packet to the rules of a message that arrives by itself. Its text cannot be truncated,
 * since it was hashed: one that is too long is refused.
 *
 * @param body the packet's Body
 * @returns the message's thread in the uuid form
 * @throws Problem invalid, not_found, forbidden
 */
export async function checkFinalizedMessage(
  checkThread: ThreadCheck,
  request: FastifyRequest,
  body: unknown,
): Promise<string> {
  checkBody({ Body: body });
  const message = body as Static<typeof ChatMessageBody>;
  checkText(message);
  if (truncate(message.text) !== message.text) {
    throw new Problem('invalid', `Body.text is longer than ${MAX_TEXT} Unicode characters`);
  }
  const sender = actingUser(request, 'Body.from_user', message.from_user);
  return checkThread(message.thread_id, sender, 'Body.from_user');
}
