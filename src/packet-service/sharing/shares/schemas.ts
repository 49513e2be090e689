import { Type } from 'typebox';
import { errorAnswers, IdempotencyHeaders, PathId, Ulid, UserId } from '../../contract/schemas.ts';
import { MAX_CONTACT } from '../directory/contact.ts';

const tags = ['Shares'];

const Status = Type.Union([Type.Literal('pending'), Type.Literal('accepted'), Type.Literal('rejected')], {
  description: 'what the recipient has said to it',
});

const ShareItem = Type.Object(
  {
    share_id: Ulid,
    packet_id: { ...Ulid, description: 'the packet that is shared' },
    from_user: Type.String({ description: 'who shares it' }),
    status: Status,
    created_at: Type.String({ description: 'ISO 8601, UTC' }),
  },
  { description: 'a share' },
);

export const postShareSchema = {
  tags,
  summary: 'Share a packet',
  description:
    'With whom a contact (an e-mail address, an international phone number, or another name) belongs to, in the ' +
    'directory first and then in the user registry. When that user can be found, a share is made and a notification ' +
    'sent; otherwise, also when the registry fails, an invitation asks to become discoverable. The same packet, ' +
    'sender and contact have one share or invitation, however often they are sent. A sender may use 60 different ' +
    'contacts an hour, and an address without a token 600 (429; RATE_LIMIT).',
  headers: IdempotencyHeaders,
  body: Type.Object(
    {
      packet_id: Type.String({ minLength: 1, maxLength: 100, description: 'ULID of the packet' }),
      from_user: Type.Optional({ ...UserId, description: 'who shares it; required without a token' }),
      contact_value: Type.String({
        minLength: 1,
        maxLength: MAX_CONTACT,
        description: 'contact of the user to share with',
      }),
    },
    {
      additionalProperties: true,
      examples: [
        { packet_id: '01JD7Q2M8XW3N5R6T8V9Y0Z1A2', from_user: 'ana', contact_value: 'ben@example.org' },
      ],
    },
  ),
  response: {
    201: Type.Union(
      [
        Type.Object({
          share_id: Ulid,
          status: Type.Literal('created'),
          message: Type.String({ description: 'the same for people' }),
        }),
        Type.Object({
          invitation_id: { ...Ulid, description: 'also the share_id of the share it may become' },
          status: Type.Literal('invitation_sent'),
          message: Type.String({ description: 'the same for people' }),
        }),
      ],
      { description: 'shared, or invited' },
    ),
    ...errorAnswers(400, 403, 404, 409, 410, 413, 429, 500, 503),
  },
};

export const inboxSchema = {
  tags,
  summary: 'What was shared with a user, newest first',
  description: 'All of it; with `limit`, page by page.',
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    status: Type.Optional(Status),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: 'shares on a page, 1000 at most' })),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'next_cursor of the page before' })),
  }),
  response: {
    200: Type.Object(
      {
        shares: Type.Array(ShareItem),
        next_cursor: Type.Optional({ ...Ulid, description: 'absent on the last page' }),
      },
      { description: 'the shares' },
    ),
    ...errorAnswers(400, 403, 500, 503),
  },
};

const Recipient = Type.Object(
  { user_id: Type.Optional({ ...UserId, description: 'required without a token' }) },
  { additionalProperties: true, examples: [{ user_id: 'ben' }] },
);

export const decideSchema = (verb: string, status: string) => ({
  tags,
  summary: `${verb} a share`,
  description: `Only its recipient does, and once: ${status} again is answered the same, the opposite with 409.`,
  params: Type.Object({ share_id: PathId }),
  body: Recipient,
  response: {
    200: { ...ShareItem, description: 'the share as it is now' },
    ...errorAnswers(400, 403, 404, 409, 413, 500, 503),
  },
});

export const acceptInvitationSchema = {
  tags,
  summary: 'Accept an invitation',
  description:
    'Who has the token from the invitation has the contact: it becomes the user`s, the user can be found by it from ' +
    'now on, and every invitation to it becomes a share. A token is good once and for 7 days; one that is not good ' +
    'is answered like one that never was.',
  headers: IdempotencyHeaders,
  params: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link in the invitation' }),
  }),
  body: Recipient,
  response: {
    200: Type.Object(
      {
        user_id: Type.String(),
        contact_value: Type.String({ description: 'by which the user can be found now' }),
        shares: Type.Integer({ description: 'invitations that became shares in the user`s inbox' }),
        message: Type.String({ description: 'the same for people' }),
      },
      { description: 'accepted' },
    ),
    ...errorAnswers(400, 403, 404, 409, 413, 500, 503),
  },
};
