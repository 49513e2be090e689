import { Type } from '../../../platform/type.ts';
import {
  Attachments,
  CapturePoint,
  ErrorBody,
  EXAMPLE_IDS,
  errorAnswers,
  GeoId,
  IdempotencyHeaders,
  PathId,
  Ulid,
  UserId,
} from '../../core/contract/schemas.ts';
import { PositionHeaders } from '../../core/replicas/schemas.ts';
import { MAX_PAGE } from './listing.ts';
import { MAX_TEXT } from './messages/message.ts';

const tags = ['Chat'];
const MAX_ADDED = 1000;

const ThreadName = Type.String({ minLength: 1, maxLength: 200, examples: ['Cooperative Kivu, lot 7'] });
const Time = Type.String({ format: 'date-time', description: 'ISO 8601 date-time with offset' });
const Limit = Type.Integer({
  minimum: 1,
  description: `items a page, at most ${MAX_PAGE}; all items when absent`,
});
const Cursor = Type.String({ maxLength: 100, description: 'next_cursor of the page before' });
const NextCursor = Type.Optional({ ...Ulid, description: 'absent on the last page' });
/** @param more what the items have then */
const Details = (more: string) =>
  Type.Optional(
    Type.Union([Type.Literal('true'), Type.Literal('false')], { description: `true: with ${more}` }),
  );
const NameOf = (user: string) =>
  Type.Optional(
    Type.String({
      description:
        `with details and a token: name and surname of ${user}; absent where the user registry is not in the same ` +
        'process',
    }),
  );
const ThreadId = { ...PathId, examples: [EXAMPLE_IDS.thread] };
const ThreadPath = Type.Object({ thread_id: ThreadId });

/** The error if the user of the token or of a field may not do this. */
export const forbidden = {
  ...ErrorBody,
  description: 'the user does not take part in the thread, or is not the user of the token',
};

const Thread = Type.Object({ thread_id: Ulid, name: ThreadName, created_by: UserId, created_at: Time });
const NamedThread = Type.Object({
  ...Thread.properties,
  created_by_name: NameOf('who has opened it with their token'),
});

const messageFields = {
  packet_id: Ulid,
  text: Type.String(),
  timestamp: { ...Time, description: 'when the message was received; of a finalized packet, its timestamp' },
  geoid: GeoId,
};

/** A chat message as sent by clients, and in the Body of a finalized packet. */
export const ChatMessageBody = Type.Object(
  {
    text: Type.String({
      description: `truncated to ${MAX_TEXT} Unicode characters; empty only with attachments`,
    }),
    thread_id: Type.String({ maxLength: 100, description: 'ULID of the thread it belongs to' }),
    capture_point: Type.Optional(CapturePoint),
    geoids: Type.Optional(
      Type.Array(GeoId, {
        maxItems: 100,
        description: 'the first is the GeoID of a message without capture point',
      }),
    ),
    attachments: Type.Optional(Attachments),
    from_user: Type.Optional({ ...UserId, description: 'the sender, who takes part in the thread' }),
  },
  {
    additionalProperties: true,
    description: 'text and thread_id; all other fields are kept in the Body',
    examples: [{ thread_id: EXAMPLE_IDS.thread, text: 'Rust on lot 7, come and look', from_user: 'amina' }],
  },
);

export const createThreadSchema = {
  operationId: 'createThread',
  tags,
  summary: 'Open a thread',
  description: 'Its creator becomes a participant.',
  headers: IdempotencyHeaders,
  body: Type.Object({
    name: ThreadName,
    created_by: Type.Optional({ ...UserId, description: 'required without a token' }),
  }),
  response: {
    201: Type.Object({ thread_id: Ulid }, { description: 'the thread was created' }),
    403: forbidden,
    ...errorAnswers(400, 409, 413, 500, 503),
  },
};

export const listThreadsSchema = {
  operationId: 'listThreads',
  tags,
  summary: 'The threads that a user takes part in, newest first',
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    details: Details('the names of who has opened them'),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  }),
  response: {
    200: Type.Object(
      {
        threads: Type.Array(NamedThread),
        next_cursor: NextCursor,
      },
      { description: 'the threads' },
    ),
    403: forbidden,
    ...errorAnswers(400, 500, 503),
  },
};

export const getThreadSchema = {
  operationId: 'getThread',
  tags,
  summary: 'One thread',
  description: 'With a token, only for participants.',
  params: ThreadPath,
  querystring: Type.Object({ details: Details('the name of who has opened it') }),
  response: {
    200: { ...NamedThread, description: 'the thread' },
    403: forbidden,
    ...errorAnswers(400, 404, 500, 503),
  },
};

export const renameThreadSchema = {
  operationId: 'renameThread',
  tags,
  summary: 'Rename a thread',
  params: ThreadPath,
  body: Type.Object({ name: ThreadName }),
  response: {
    200: { ...Thread, description: 'the thread with its new name' },
    403: forbidden,
    ...errorAnswers(400, 404, 413, 500, 503),
  },
};

export const addParticipantsSchema = {
  operationId: 'addParticipants',
  tags,
  summary: 'Add participants to a thread',
  description: 'Existing participants are ignored. With a token, only participants can add others.',
  params: ThreadPath,
  body: Type.Object({ user_ids: Type.Array(UserId, { minItems: 1, maxItems: MAX_ADDED }) }),
  response: {
    200: Type.Object(
      { message: Type.String(), added: Type.Integer({ description: 'how many were added' }) },
      { description: 'all of them are participants' },
    ),
    403: forbidden,
    ...errorAnswers(400, 404, 413, 500, 503),
  },
};

export const listParticipantsSchema = {
  operationId: 'listParticipants',
  tags,
  summary: 'The participants of a thread, by user',
  description: 'All of them, or page by page with limit. With a token, only for participants.',
  params: ThreadPath,
  querystring: Type.Object({
    limit: Type.Optional(Limit),
    cursor: Type.Optional({ ...UserId, description: 'next_cursor of the page before' }),
  }),
  response: {
    200: Type.Object(
      {
        participants: Type.Array(
          Type.Object({
            user_id: UserId,
            added_at: { ...Time, description: 'when the user was added' },
          }),
        ),
        next_cursor: Type.Optional({ ...UserId, description: 'absent on the last page' }),
      },
      { description: 'the participants' },
    ),
    403: forbidden,
    ...errorAnswers(400, 404, 500, 503),
  },
};

export const leaveThreadSchema = {
  operationId: 'leaveThread',
  tags,
  summary: 'Leave a thread',
  description: 'With a token, only for its user. The messages stay.',
  params: Type.Object({ thread_id: ThreadId, user_id: UserId }),
  response: {
    204: Type.Null({ description: 'no longer a participant' }),
    403: forbidden,
    ...errorAnswers(400, 404, 500, 503),
  },
};

export const markReadSchema = {
  operationId: 'markThreadRead',
  tags,
  summary: 'Mark a thread as read up to a message',
  description:
    'For the user, on all of their devices. The mark only moves forward; repeated requests change nothing. Only for ' +
    'participants; leaving the thread removes the mark.',
  params: ThreadPath,
  body: Type.Object({
    message_id: {
      ...Ulid,
      description: 'packet_id of the last message that was read, in the order of the list',
    },
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
  }),
  response: {
    200: Type.Object(
      { unread: Type.Boolean({ description: 'whether there are messages by others after it' }) },
      { description: 'the mark is there, or further' },
    ),
    403: forbidden,
    ...errorAnswers(400, 404, 413, 500, 503),
  },
};

export const listUnreadSchema = {
  operationId: 'listUnread',
  tags,
  summary: 'The threads of a user that have unread messages, newest thread first',
  description:
    "Those with messages by others after the user's mark. A thread that the user has not marked yet is unread if anybody " +
    'else has written in it. A page looks at `limit` threads of the user and lists those of them that are unread: it can ' +
    'be empty and have a next page. Of a thread, the last 100 messages after the mark are looked at.',
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `threads that are looked at, at most ${MAX_PAGE}; ${MAX_PAGE} when absent`,
      }),
    ),
    cursor: Type.Optional(Cursor),
  }),
  response: {
    200: Type.Object(
      { thread_ids: Type.Array(Ulid), next_cursor: NextCursor },
      { description: 'the unread threads' },
    ),
    403: forbidden,
    ...errorAnswers(400, 500, 503),
  },
};

export const listMessagesSchema = {
  operationId: 'listMessages',
  headers: PositionHeaders,
  tags,
  summary: 'The messages of a thread, oldest first',
  description:
    'All of them, streamed, or page by page with limit. With a token, only for participants. Pages are in order of time: a ' +
    'message can become visible after a later one was read. Use /sync/packets or /events to miss nothing.',
  params: ThreadPath,
  querystring: Type.Object({
    order: Type.Optional(
      Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
        description: 'asc (oldest first) unless given',
      }),
    ),
    details: Details('from_user and from_name, as far as they are known, and attachments'),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  }),
  response: {
    200: Type.Object(
      {
        messages: Type.Array(
          Type.Object({
            ...messageFields,
            from_user: Type.Optional({ ...UserId, description: 'the sender, if known; with details' }),
            from_name: NameOf('the sender, who has sent it with a token'),
            attachments: Type.Optional({ ...Attachments, description: 'as sent; with details' }),
          }),
        ),
        next_cursor: NextCursor,
      },
      { description: 'the messages' },
    ),
    403: forbidden,
    ...errorAnswers(400, 404, 500, 503),
  },
};

export const searchSchema = {
  operationId: 'searchMessages',
  headers: PositionHeaders,
  tags,
  summary: "Search the messages of a user's threads, newest first",
  description:
    'All matches, streamed, or page by page with limit. The keyword is any part of the text, in any script; upper ' +
    'and lower case are equal, and there are no wildcards. Conditions that are absent or empty do not ' +
    'narrow.',
  body: Type.Object(
    {
      user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
      keyword: Type.Optional(Type.String({ maxLength: 1000, examples: ['rust'] })),
      geoid: Type.Optional({
        ...GeoId,
        description: 'the GeoID of the message, or one of its additional GeoIDs',
      }),
      from: Type.Optional(
        Type.String({ maxLength: 40, description: 'ISO 8601 date-time or date, inclusive' }),
      ),
      to: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601 date-time or date, inclusive' })),
      limit: Type.Optional(Limit),
      cursor: Type.Optional(Cursor),
    },
    { examples: [{ user_id: 'amina', keyword: 'rust' }] },
  ),
  response: {
    200: Type.Object(
      {
        results: Type.Array(Type.Object({ ...messageFields, thread_id: Ulid })),
        next_cursor: NextCursor,
      },
      { description: 'the matches' },
    ),
    403: forbidden,
    ...errorAnswers(400, 413, 500, 503),
  },
};
