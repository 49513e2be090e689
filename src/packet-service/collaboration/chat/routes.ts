import type pg from 'pg';
import { distributionOf } from '../../../platform/database/citus/is-distributed.ts';
import type { Database } from '../../../platform/database/database.ts';
import { findOnEither } from '../../../platform/database/replicas/read-from.ts';
import { linkNext } from '../../../platform/http/next-link.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { FindNames } from '../../../platform/tokens/user-registry.ts';
import { type Caller, claimedUser, namedUser, required } from '../../core/access/caller.ts';
import { positionOf, readCursor } from '../../core/contract/cursor.ts';
import { rangeEnd } from '../../core/contract/range-end.ts';
import { readKey, runIdempotent, sendIdempotentAnswer } from '../../core/idempotency/idempotency.ts';
import { newUlid, ulidToUuid, uuidToUlid } from '../../core/packet-format/ulid.ts';
import { findMessageDetails, findPagePosition } from '../../core/packets/read-store.ts';
import type { ChooseReads } from '../../core/replicas/reads.ts';
import type { UntilComplete } from '../../core/writer/broken-commits.ts';
import {
  type DetailedMessage,
  detailedItem,
  inBatches,
  MAX_PAGE,
  messageItem,
  participantItem,
  sendList,
  threadItem,
  threadObject,
} from './listing.ts';
import { listMessages, type MessageRow } from './messages/store.ts';
import { named, withNames } from './names.ts';
import { fold } from './ngrams/fold.ts';
import {
  addParticipantsSchema,
  createThreadSchema,
  getThreadSchema,
  leaveThreadSchema,
  listMessagesSchema,
  listParticipantsSchema,
  listThreadsSchema,
  listUnreadSchema,
  markReadSchema,
  renameThreadSchema,
  searchSchema,
} from './schemas.ts';
import { messagePosition, searchMessages } from './search/search.ts';
import { listUnread, markRead } from './threads/read-marks.ts';
import {
  addParticipants,
  findThread,
  insertThread,
  listParticipants,
  listThreads,
  removeParticipant,
  renameThread,
  type Thread,
  type ThreadParticipant,
} from './threads/store.ts';
import type { ThreadCheck } from './threads/thread-check.ts';

/** Dependencies of chat. */
interface Chat {
  pool: pg.Pool;
  checkThread: ThreadCheck;
  reads: ChooseReads;
  findNames: FindNames;
  untilComplete: UntilComplete;
}

/** Threads, participants, messages and search. */
export function registerChat(app: Server, chat: Chat): void {
  const { pool, checkThread, reads, findNames } = chat;
  registerThreads(app, chat, ownThread(checkThread));
  registerParticipants(app, pool, checkThread);
  registerReadMarks(app, pool, checkThread);
  registerMessages(app, reads, ownThread(checkThread), findNames);
  registerSearch(app, reads);
}

/** Finds a thread (uuid form) in which the token's user takes part, or that is open where there is no token. */
type OwnThread = (caller: Caller, threadId: string) => Promise<string>;

function ownThread(checkThread: ThreadCheck): OwnThread {
  return async ({ user, anonymous }, threadId) =>
    (await checkThread(threadId, { anonymous, userId: user })).threadId;
}

function registerThreads(app: Server, { pool, findNames, untilComplete }: Chat, findOwn: OwnThread): void {
  app.post('/chat/threads', { schema: createThreadSchema }, async (request, reply) => {
    const { name, created_by } = request.body;
    const createdBy = await namedUser(request, 'created_by', created_by);
    const done = await runIdempotent(pool, readKey(request), async database => {
      const ulid = newUlid();
      const thread = {
        threadId: ulidToUuid(ulid),
        name,
        createdBy,
        createdAt: new Date(),
        author: request.user ?? null,
      };
      await insertThread(database, thread);
      await addParticipants(database, thread.threadId, [createdBy], thread.createdAt);
      return { status: 201, answer: JSON.stringify({ thread_id: ulid }) };
    });
    if (done.replayed) await untilComplete();
    return sendIdempotentAnswer(reply, done);
  });

  app.get('/chat/threads', { schema: listThreadsSchema }, async (request, reply) => {
    const { user_id, limit, cursor } = request.query;
    const userId = await namedUser(request, 'user_id', user_id);
    const start = cursor === undefined ? undefined : readCursor(cursor);
    const threads = (wanted: number) =>
      inBatches(
        wanted,
        start,
        ({ threadId }: Thread) => threadId,
        (after, count) => listThreads(pool, { userId, openOnly: request.anonymous }, { after, limit: count }),
      );
    const withCreators = (wanted: number) => withNames(findNames, request, provenCreator, threads(wanted));
    return sendList(reply, 'threads', limit, withCreators, threadItem);
  });

  app.get('/chat/threads/:thread_id', { schema: getThreadSchema }, async request => {
    const threadId = await findOwn(request, request.params.thread_id);
    const thread = (await findThread(pool, threadId)) as Thread;
    const [namedThread] = await named(findNames, request, provenCreator, [thread]);
    return threadObject(namedThread as Thread);
  });

  app.patch('/chat/threads/:thread_id', { schema: renameThreadSchema }, async request => {
    const threadId = await findOwn(request, request.params.thread_id);
    const thread = await renameThread(pool, threadId, request.body.name);
    return threadObject(thread as Thread);
  });
}

/** The user who opened a thread with a token; without one, anybody can open it in any name. */
const provenCreator = ({ createdBy, author }: Thread) => (author === createdBy ? createdBy : undefined);

function registerParticipants(app: Server, pool: pg.Pool, checkThread: ThreadCheck): void {
  const findOwn = ownThread(checkThread);
  app.post('/chat/threads/:thread_id/participants', { schema: addParticipantsSchema }, async request => {
    const threadId = await findOwn(request, request.params.thread_id);
    const added = await addParticipants(pool, threadId, request.body.user_ids, new Date());
    return { message: added === 1 ? '1 participant added' : `${added} participants added`, added };
  });

  app.get(
    '/chat/threads/:thread_id/participants',
    { schema: listParticipantsSchema },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const threadId = await findOwn(request, request.params.thread_id);
      const participants = (wanted: number) =>
        inBatches(
          wanted,
          cursor,
          ({ userId }: ThreadParticipant) => userId,
          (after, count) => listParticipants(pool, threadId, { after, limit: count }),
        );
      return sendList(reply, 'participants', limit, participants, participantItem);
    },
  );

  app.delete(
    '/chat/threads/:thread_id/participants/:user_id',
    { schema: leaveThreadSchema },
    async (request, reply) => {
      const { thread_id, user_id } = request.params;
      const userId = await namedUser(request, 'user_id', user_id);
      const { threadId } = await checkThread(thread_id, { anonymous: request.anonymous });
      if (!(await removeParticipant(pool, threadId, userId))) {
        throw new Problem('participant.unknown', { user: userId, id: thread_id });
      }
      return reply.code(204).send(null);
    },
  );
}

function registerReadMarks(app: Server, pool: pg.Pool, checkThread: ThreadCheck): void {
  app.put('/chat/threads/:thread_id/read', { schema: markReadSchema }, async request => {
    const { anonymous, body } = request;
    const userId = required('user_id', claimedUser(request, 'user_id', body.user_id));
    const visitor = { anonymous, userId, field: 'user_id' };
    const { threadId } = await checkThread(request.params.thread_id, visitor);
    return { unread: await markRead(pool, { threadId, userId }, body.message_id) };
  });

  app.get('/chat/unread', { schema: listUnreadSchema }, async (request, reply) => {
    const { user_id, limit = MAX_PAGE, cursor } = request.query;
    const userId = await namedUser(request, 'user_id', user_id);
    const user = { userId, openOnly: request.anonymous };
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const { threadIds, next } = await listUnread(pool, user, { after, limit: Math.min(limit, MAX_PAGE) });
    const nextCursor = next && uuidToUlid(next);
    if (nextCursor) linkNext(reply, nextCursor);
    return { thread_ids: threadIds.map(uuidToUlid), ...(nextCursor && { next_cursor: nextCursor }) };
  });
}

/** The user who sent a message with a token. */
const provenSender = ({ details }: DetailedMessage) => details?.author ?? undefined;

async function* withDetails(
  database: Database,
  batches: AsyncGenerator<MessageRow[]>,
): AsyncGenerator<DetailedMessage[]> {
  for await (const rows of batches) {
    const ids = rows.map(({ packetId }) => packetId);
    const details = ids.length > 0 ? await findMessageDetails(database, ids) : undefined;
    yield rows.map(row => ({ ...row, details: details?.get(row.packetId) }));
  }
}

function registerMessages(app: Server, reads: ChooseReads, findOwn: OwnThread, findNames: FindNames): void {
  app.get('/chat/threads/:thread_id/messages', { schema: listMessagesSchema }, async (request, reply) => {
    const { order = 'asc', details = 'false', limit, cursor } = request.query;
    const threadId = await findOwn(request, request.params.thread_id);
    const from = await reads(request);
    const { database } = from;
    const start = await positionOf(cursor, id => findOnEither(from, on => findPagePosition(on, id)));
    const messages = (wanted: number) =>
      inBatches(wanted, start, messagePosition, (after, count) =>
        listMessages(database, threadId, { order, after, limit: count }),
      );
    if (details === 'true') {
      const detailed = (wanted: number) =>
        withNames(findNames, request, provenSender, withDetails(database, messages(wanted)));
      return sendList(reply, 'messages', limit, detailed, detailedItem);
    }
    return sendList(reply, 'messages', limit, messages, row => messageItem(row, false));
  });
}

function registerSearch(app: Server, reads: ChooseReads): void {
  const areDistributed = distributionOf('chat_messages');
  app.post('/chat/query', { schema: searchSchema, config: { keyScope: 'read' } }, async (request, reply) => {
    const { user_id, keyword, geoid, from, to, limit, cursor } = request.body;
    const criteria = {
      userId: required('user_id', claimedUser(request, 'user_id', user_id)),
      openOnly: request.anonymous,
      keyword: keyword ? fold(keyword) : undefined,
      geoid: geoid || undefined,
      from: rangeEnd(from, 'from'),
      to: rangeEnd(to, 'to'),
    };
    const readFrom = await reads(request);
    const search = { ...criteria, isDistributed: await areDistributed(readFrom.database) };
    const start = await positionOf(cursor, id => findOnEither(readFrom, on => findPagePosition(on, id)));
    const matches = (wanted: number) => searchMessages(readFrom, search, start, wanted);
    return sendList(reply, 'results', limit, matches, row => messageItem(row, true));
  });
}
