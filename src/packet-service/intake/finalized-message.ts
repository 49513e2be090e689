import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { bodyCheck } from '../../platform/http/validation.ts';
import { Type } from '../../platform/type.ts';
import { checkText, MAX_TEXT, truncate } from '../collaboration/chat/messages/message.ts';
import { ChatMessageBody } from '../collaboration/chat/schemas.ts';
import type { KnownThread, ThreadCheck } from '../collaboration/chat/threads/thread-check.ts';
import { type Caller, claimedUser } from '../core/access/caller.ts';

const checkBody = bodyCheck(Type.Object({ Body: ChatMessageBody }));

/**
 * Checks a finalized chat packet by the rules of a chat message. Its text cannot be truncated, because it is hashed:
 * a longer one is refused.
 *
 * @param body the packet's Body
 * @returns the message and its thread
 * @throws Problem invalid, not_found, forbidden, unauthenticated
 */
export async function checkFinalizedMessage(
  checkThread: ThreadCheck,
  caller: Caller,
  body: unknown,
): Promise<{ thread: KnownThread; message: Static<typeof ChatMessageBody> }> {
  const { Body: message } = checkBody({ Body: body });
  checkText(message);
  if (truncate(message.text) !== message.text) {
    throw new Problem('message.too_long', { field: 'Body.text', max: MAX_TEXT });
  }
  const field = 'Body.from_user';
  const userId = claimedUser(caller, field, message.from_user);
  const thread = await checkThread(message.thread_id, { anonymous: caller.anonymous, userId, field });
  return { thread, message };
}
