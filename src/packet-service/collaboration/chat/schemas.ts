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
  description: `items per page, at most ${MAX_PAGE}; by default all items`,
});
const Cursor = Type.String({ maxLength: 100, description: 'next_cursor of the previous page' });
const NextCursor = Type.Optional({ ...Ulid, description: 'absent on the last page' });
/** @param more what the items have then */
const Details = (more: string) =>
  Type.Optional(
    Type.Union([Type.Literal('true'), Type.Literal('false')], { description: `true: with ${more}` }),
  );
const NameOf = (user: string) =>
  Type.Optional(
    Type.String({
      description: `with details and a token: name and surname of ${user}; absent if the user registry runs in another process`,
    }),
  );
const ThreadId = { ...PathId, examples: [EXAMPLE_IDS.thread] };
const ThreadPath = Type.Object({ thread_id: ThreadId });

/** The error if the user of the token or of a field may not do this. */
export const forbidden = {
  ...ErrorBody,
  description: "the user isn't a participant of the thread, or the token belongs to another user",
};

const Thread = Type.Object({ thread_id: Ulid, name: ThreadName, created_by: UserId, created_at: Time });
const NamedThread = Type.Object({
  ...Thread.properties,
  created_by_name: NameOf('the creator, if they used a token'),
});

const messageFields = {
  packet_id: Ulid,
  text: Type.String(),
  timestamp: { ...Time, description: 'when the message was received; for a finalized packet, its timestamp' },
  geoid: GeoId,
};

/** A chat message as sent by clients, and in the Body of a finalized packet. */
export const ChatMessageBody = Type.Object(
  {
    text: Type.String({
      description: `truncated to ${MAX_TEXT} Unicode characters; empty only with attachments`,
    }),
    thread_id: Type.String({ maxLength: 100, description: 'ULID of the thread' }),
    capture_point: Type.Optional(CapturePoint),
    geoids: Type.Optional(
      Type.Array(GeoId, {
        maxItems: 100,
        description: 'the first is the GeoID of the message if there is no capture point',
      }),
    ),
    attachments: Type.Optional(Attachments),
    from_user: Type.Optional({ ...UserId, description: 'the sender, a participant of the thread' }),
  },
  {
    additionalProperties: true,
    description: 'requires text and thread_id; all other fields are kept in the Body',
    examples: [{ thread_id: EXAMPLE_IDS.thread, text: 'Rust on lot 7, come and look', from_user: 'amina' }],
  },
);

export const createThreadSchema = {
  operationId: 'createThread',
  tags,
  summary: 'Open a thread',
  description: 'The creator becomes a participant.',
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
  summary: "List a user's threads, newest first",
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    details: Details("their creators' names"),
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
  summary: 'Get a thread',
  description: 'With a token, only participants can do this.',
  params: ThreadPath,
  querystring: Type.Object({ details: Details("the creator's name") }),
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
      { message: Type.String(), added: Type.Integer({ description: 'number of added participants' }) },
      { description: 'all given users are participants' },
    ),
    403: forbidden,
    ...errorAnswers(400, 404, 413, 500, 503),
  },
};

export const listParticipantsSchema = {
  operationId: 'listParticipants',
  tags,
  summary: 'List the participants of a thread, by user',
  description:
    'Returns all participants, or pages if you set limit. With a token, only participants can do this.',
  params: ThreadPath,
  querystring: Type.Object({
    limit: Type.Optional(Limit),
    cursor: Type.Optional({ ...UserId, description: 'next_cursor of the previous page' }),
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
  description: 'With a token, only the user themselves can do this. Their messages stay.',
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
    "Applies to all of the user's devices. The mark only moves forward; repeated requests have no effect. Only " +
    'for participants; leaving the thread removes the mark.',
  params: ThreadPath,
  body: Type.Object({
    message_id: {
      ...Ulid,
      description: 'packet_id of the last message read, in list order',
    },
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
  }),
  response: {
    200: Type.Object(
      { unread: Type.Boolean({ description: 'whether others have sent messages after it' }) },
      { description: 'the mark is at this message or a later one' },
    ),
    403: forbidden,
    ...errorAnswers(400, 404, 413, 500, 503),
  },
};

export const listUnreadSchema = {
  operationId: 'listUnread',
  tags,
  summary: "List a user's unread threads, newest first",
  description:
    "A thread is unread if others have sent messages after the user's mark. Without a mark, it is unread if " +
    'anyone else has written in it. A page checks `limit` threads and returns the unread ones, so it can be ' +
    'empty although there are further pages. Only the last 100 messages after the mark are checked.',
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `threads to check, at most ${MAX_PAGE}; ${MAX_PAGE} by default`,
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
  summary: 'List the messages of a thread, oldest first',
  description:
    'Streams all messages, or returns pages if you set limit. With a token, only participants can do this. Pages ' +
    'are ordered by time, so a message can appear after a later one was read: use /sync/packets or /events if ' +
    "you can't miss any.",
  params: ThreadPath,
  querystring: Type.Object({
    order: Type.Optional(
      Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
        description: 'asc (oldest first) by default',
      }),
    ),
    details: Details('from_user and from_name, if known, and attachments'),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  }),
  response: {
    200: Type.Object(
      {
        messages: Type.Array(
          Type.Object({
            ...messageFields,
            from_user: Type.Optional({ ...UserId, description: 'the sender, if known; only with details' }),
            from_name: NameOf('the sender, if they used a token'),
            attachments: Type.Optional({ ...Attachments, description: 'as sent; only with details' }),
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
    'Streams all matches, or returns pages if you set limit. The keyword matches any part of the text, in any ' +
    'script, and ignores case; there are no wildcards. Empty conditions are ignored.',
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
