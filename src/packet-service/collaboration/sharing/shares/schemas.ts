import { Type } from '../../../../platform/type.ts';
import {
  EXAMPLE_IDS,
  errorAnswers,
  IdempotencyHeaders,
  PathId,
  Ulid,
  UserId,
} from '../../../core/contract/schemas.ts';
import { MAX_CONTACT } from '../directory/contact.ts';

const tags = ['Shares'];

const Status = Type.Union([Type.Literal('pending'), Type.Literal('accepted'), Type.Literal('rejected')], {
  description: 'the decision of the recipient',
});

const ShareItem = Type.Object(
  {
    share_id: Ulid,
    packet_id: { ...Ulid, description: 'the shared packet' },
    from_user: Type.String({ description: 'who shares it' }),
    status: Status,
    created_at: Type.String({ description: 'ISO 8601, UTC' }),
  },
  { description: 'a share' },
);

const FromName = Type.Optional(
  Type.String({
    description:
      'name and surname of the sender, who has shared it with a token; absent where the user registry is not in the ' +
      'same process or does not know them, and without a token',
  }),
);

const said = {
  type: Type.String({ description: 'its type' }),
  timestamp: Type.String({ description: 'ISO 8601' }),
  geoid: Type.String(),
};
const Text = Type.String({ description: 'the first 200 characters of its message or text' });
const Summary = Type.Optional(
  Type.Object(
    { ...said, text: Text },
    { description: 'with details: what the packet says, unless it was erased' },
  ),
);

/** A share in an inbox. */
const InboxItem = Type.Object({
  ...ShareItem.properties,
  from_name: FromName,
  packet: Type.Optional(
    Type.Object(
      { ...said, text: Type.Optional(Text) },
      {
        description:
          'with details: what the packet says, unless it was erased; without the text if it is a message whose share is ' +
          'rejected, which the user cannot read',
      },
    ),
  ),
});

export const postShareSchema = {
  operationId: 'createShare',
  tags,
  summary: 'Share a packet',
  description:
    'Shares with the user who has a contact (an e-mail address, an international phone number, or another name) in the ' +
    'user registry, or else has proven in the directory to have it; without a token also with one who has entered it ' +
    'without a token. If that user can be found, a share is created and a notification ' +
    'sent; otherwise an invitation is sent. The same packet, ' +
    'sender and contact have one share or invitation, however often they are sent. A sender may use 60 different ' +
    'contacts an hour, with a token and without one counted apart, and an address without a token 600 (429; RATE_LIMIT). With a token, a sender can make 200 shares ' +
    'and invitations an hour (429; RATE_LIMIT); without one, more than 200 are stored, and nobody gets a mail. An address ' +
    'gets at most 20 mails an hour about what is shared with a token, then one mail that sums up the shares of the next ' +
    'hour; and at most 10 an hour about what is shared without one. 20 invitations to one contact are sent per day, those ' +
    'without a token counted apart.',
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
          message: Type.String({ description: 'the same, for people to read' }),
        }),
        Type.Object({
          invitation_id: { ...Ulid, description: 'also the share_id of the share it may become' },
          status: Type.Literal('invitation_sent'),
          message: Type.String({ description: 'the same, for people to read' }),
        }),
      ],
      { description: 'shared, or invited' },
    ),
    ...errorAnswers(400, 403, 404, 409, 410, 413, 429, 500, 503),
  },
};

export const inboxSchema = {
  operationId: 'listInbox',
  tags,
  summary: 'The inbox of a user, newest first',
  description: 'All shares; with `limit`, page by page. A browser gets a page.',
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    status: Type.Optional(Status),
    details: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        description: 'whether each share also has the beginning of its packet, and the name of its sender',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: 'shares per page, at most 1000' })),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'next_cursor of the previous page' })),
  }),
  response: {
    200: {
      description: 'the shares',
      content: {
        'application/json': {
          schema: Type.Object({
            shares: Type.Array(InboxItem),
            next_cursor: Type.Optional({ ...Ulid, description: 'absent on the last page' }),
          }),
        },
        'text/html': { schema: Type.String() },
      },
    },
    ...errorAnswers(400, 403, 500, 503),
  },
};

/** Shares of a packet that are listed, at most. */
export const MAX_SENT = 100;

export const sentSchema = {
  operationId: 'listShares',
  tags,
  summary: 'With whom a user has shared a packet',
  description: `The newest ${MAX_SENT} shares and invitations of the user, newest first.`,
  params: Type.Object({ id: PathId }),
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'who has shared it; required without a token' }),
  }),
  response: {
    200: Type.Object(
      {
        shares: Type.Array(
          Type.Object({
            share_id: { ...Ulid, description: 'of an invitation: also its invitation_id' },
            contact_value: Type.Optional(
              Type.String({ description: 'the contact; absent if its user has erased their account' }),
            ),
            status: Type.Enum(['invited', 'pending', 'accepted', 'rejected'] as const, {
              description: 'invited: the contact belongs to nobody who can be found yet',
            }),
            created_at: Type.String({ description: 'ISO 8601, UTC' }),
          }),
        ),
      },
      { description: 'the shares' },
    ),
    ...errorAnswers(400, 403, 404, 410, 500, 503),
  },
};

const Recipient = Type.Object(
  { user_id: Type.Optional({ ...UserId, description: 'required without a token' }) },
  { additionalProperties: true, examples: [{ user_id: 'ben' }] },
);

export const decideSchema = (operationId: string, verb: string) => ({
  operationId,
  tags,
  summary: `${verb} a share`,
  description:
    'Only its recipient can, and once: repeating it gets the same answer, the opposite 409. With a token also an ' +
    'invitation, by its id, that waits for a confirmed contact of the user.',
  params: Type.Object({ share_id: { ...PathId, examples: [EXAMPLE_IDS.share] } }),
  body: Recipient,
  response: {
    200: { ...ShareItem, description: 'the updated share' },
    ...errorAnswers(400, 403, 404, 409, 413, 500, 503),
  },
});

const Accepted = (contact: string) =>
  Type.Object(
    {
      user_id: Type.String(),
      contact_value: Type.String({ description: contact }),
      shares: Type.Integer({ description: 'invitations that became shares in the inbox of the user' }),
      message: Type.String({ description: 'the same, for people to read' }),
    },
    { description: 'accepted' },
  );

export const acceptInvitationSchema = {
  operationId: 'acceptInvitation',
  tags,
  summary: 'Accept an invitation',
  description:
    'The token from the invitation proves the contact: it now belongs to the user, the user can be found by it ' +
    '(without a token, for what is shared without one), and every invitation to it becomes a share. A token is valid once and for 7 days; an invalid one gets ' +
    'the same answer as an unknown one.',
  headers: IdempotencyHeaders,
  params: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link in the invitation' }),
  }),
  body: Recipient,
  response: {
    200: Accepted('the contact by which the user can now be found'),
    ...errorAnswers(400, 403, 404, 409, 413, 500, 503),
  },
};

export const checkInvitationSchema = {
  operationId: 'checkInvitation',
  tags,
  summary: 'Whether the token of an invitation can still be used',
  description:
    'Changes nothing. A token that was used or has expired gets the same answer as an unknown one, and so does one to a ' +
    'contact of the user, with a token of theirs, when nothing waits for that contact any more.',
  params: acceptInvitationSchema.params,
  response: {
    200: Type.Object(
      {
        expires_at: Type.String({ description: 'until when; ISO 8601, UTC' }),
        is_own: Type.Optional(
          Type.Boolean({
            description:
              'with a token: whether it is to a contact of the user, who then answers it in `GET /invitations`, too',
          }),
        ),
      },
      { description: 'it can be used' },
    ),
    ...errorAnswers(400, 404, 500, 503),
  },
};

const OwnContact = {
  user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
  contact_value: Type.String({
    minLength: 1,
    maxLength: MAX_CONTACT,
    description: 'a contact that the user has in the user registry, or has proven in the directory to have',
  }),
};

export const listInvitationsSchema = {
  operationId: 'listInvitations',
  tags,
  summary: 'The invitations that wait for a contact of the caller',
  description:
    'The newest 100, newest first: what was shared with the contact before the user could be found by it. Any contact ' +
    'that is not theirs is 403.',
  querystring: Type.Object({
    ...OwnContact,
    details: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        description: 'whether each also has the beginning of its packet',
      }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        invitations: Type.Array(
          Type.Object({
            invitation_id: { ...Ulid, description: 'also the share_id of the share that it may become' },
            from_user: Type.String({ description: 'who shares a packet' }),
            from_name: FromName,
            packet: Summary,
            created_at: Type.String({ description: 'ISO 8601, UTC' }),
          }),
        ),
      },
      { description: 'the invitations' },
    ),
    ...errorAnswers(400, 403, 500, 503),
  },
};

export const acceptWaitingSchema = {
  operationId: 'acceptWaitingInvitations',
  tags,
  summary: 'Accept the invitations that wait for a contact of the caller',
  description:
    'Every invitation to the contact becomes a share in the inbox of the user, who cannot be found by it for that ' +
    'reason alone.',
  headers: IdempotencyHeaders,
  body: Type.Object(OwnContact, {
    additionalProperties: true,
    examples: [{ contact_value: 'ben@example.org' }],
  }),
  response: {
    200: Accepted('the contact'),
    ...errorAnswers(400, 403, 409, 413, 500, 503),
  },
};
