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
  description: "the recipient's decision",
});

const ShareItem = Type.Object(
  {
    share_id: Ulid,
    packet_id: { ...Ulid, description: 'the shared packet' },
    from_user: Type.String({ description: 'the sender' }),
    status: Status,
    created_at: Type.String({ description: 'ISO 8601, UTC' }),
  },
  { description: 'a share' },
);

const FromName = Type.Optional(
  Type.String({
    description:
      "name and surname of the sender; absent if it was shared without a token, or if the user registry doesn't " +
      'know them or runs in another process',
  }),
);

const said = {
  type: Type.String({ description: "the packet's type" }),
  timestamp: Type.String({ description: 'ISO 8601' }),
  geoid: Type.String(),
};
const Text = Type.String({ description: 'the first 200 characters of its message or text' });
const Summary = Type.Optional(
  Type.Object(
    { ...said, text: Text },
    { description: "only with details: the packet's content, unless it was erased" },
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
          "only with details: the packet's content, unless it was erased; without the text if it is a message and the " +
          "share is rejected, because the user can't read it",
      },
    ),
  ),
});

export const postShareSchema = {
  operationId: 'createShare',
  tags,
  summary: 'Share a packet',
  description:
    'Shares the packet with the user who has this contact (an email address, an international phone number or ' +
    'another name) in the user registry, or who has confirmed it in the directory. Without a token, contacts ' +
    'entered without a token count too. If the user is found, a share is created and a notification sent; ' +
    'otherwise an invitation is sent. Repeating the same packet, sender and contact creates nothing new. A ' +
    'sender can use 60 different contacts an hour, counted separately with and without a token, and an address ' +
    'without a token 600 (429; RATE_LIMIT). With a token, a sender can make 200 shares and invitations an hour ' +
    '(429; RATE_LIMIT); without one, further ones are stored without sending an email. An email address gets at ' +
    'most 20 emails an hour about shares with a token, then one email that sums up the next hour, and at most 10 ' +
    'an hour about shares without one. A contact gets 20 invitations per day, counted separately without a token.',
  headers: IdempotencyHeaders,
  body: Type.Object(
    {
      packet_id: Type.String({ minLength: 1, maxLength: 100, description: 'ULID of the packet' }),
      from_user: Type.Optional({ ...UserId, description: 'the sender; required without a token' }),
      contact_value: Type.String({
        minLength: 1,
        maxLength: MAX_CONTACT,
        description: 'contact of the recipient',
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
          message: Type.String({ description: 'the same information for people' }),
        }),
        Type.Object({
          invitation_id: { ...Ulid, description: 'also the share_id, if it becomes a share' },
          status: Type.Literal('invitation_sent'),
          message: Type.String({ description: 'the same information for people' }),
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
  summary: "List a user's inbox, newest first",
  description: 'Returns all shares, or pages if you set `limit`. Browsers get a page.',
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    status: Type.Optional(Status),
    details: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        description: 'true: adds the start of each packet and the name of its sender',
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

/** Maximum shares of a packet that are listed. */
export const MAX_SENT = 100;

export const sentSchema = {
  operationId: 'listShares',
  tags,
  summary: 'List who a user has shared a packet with',
  description: `The newest ${MAX_SENT} shares and invitations by the user, newest first.`,
  params: Type.Object({ id: PathId }),
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'the sender; required without a token' }),
  }),
  response: {
    200: Type.Object(
      {
        shares: Type.Array(
          Type.Object({
            share_id: { ...Ulid, description: 'for an invitation, also its invitation_id' },
            contact_value: Type.Optional(
              Type.String({ description: 'the contact; absent if the recipient erased their account' }),
            ),
            status: Type.Enum(['invited', 'pending', 'accepted', 'rejected'] as const, {
              description: 'invited: no user with this contact can be found yet',
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
    'Only the recipient can do this. Repeating it returns the same answer; the opposite decision returns 409. ' +
    "With a token, you can also use the id of an invitation to one of the user's confirmed contacts.",
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
      shares: Type.Integer({ description: "number of invitations that became shares in the user's inbox" }),
      message: Type.String({ description: 'the same information for people' }),
    },
    { description: 'accepted' },
  );

export const acceptInvitationSchema = {
  operationId: 'acceptInvitation',
  tags,
  summary: 'Accept an invitation',
  description:
    "The invitation's token confirms the contact: others can now find the user by it (without an access token, " +
    "only for shares without one), and every invitation to it becomes a share. An invitation's token works once, " +
    'for 7 days. Invalid and unknown tokens get the same answer.',
  headers: IdempotencyHeaders,
  params: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link in the invitation' }),
  }),
  body: Recipient,
  response: {
    200: Accepted('the contact; others can now find the user by it'),
    ...errorAnswers(400, 403, 404, 409, 413, 500, 503),
  },
};

export const checkInvitationSchema = {
  operationId: 'checkInvitation',
  tags,
  summary: "Check whether an invitation's token is valid",
  description:
    "Changes nothing. Used, expired and unknown tokens get the same answer. So does a token for the caller's own " +
    'contact if no invitations are left for it.',
  params: acceptInvitationSchema.params,
  response: {
    200: Type.Object(
      {
        expires_at: Type.String({ description: 'end of validity; ISO 8601, UTC' }),
        is_own: Type.Optional(
          Type.Boolean({
            description:
              'with an access token: whether the invitation is to a contact of the caller, who can then also answer it ' +
              'through `GET /invitations`',
          }),
        ),
      },
      { description: 'the token is valid' },
    ),
    ...errorAnswers(400, 404, 500, 503),
  },
};

const OwnContact = {
  user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
  contact_value: Type.String({
    minLength: 1,
    maxLength: MAX_CONTACT,
    description: 'a contact of the caller, from the user registry or confirmed in the directory',
  }),
};

export const listInvitationsSchema = {
  operationId: 'listInvitations',
  tags,
  summary: 'List invitations to a contact of the caller',
  description:
    'Returns the newest 100 shares made before the user could be found by this contact, newest first. Returns ' +
    "403 if the contact isn't the caller's.",
  querystring: Type.Object({
    ...OwnContact,
    details: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        description: 'true: adds the start of each packet',
      }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        invitations: Type.Array(
          Type.Object({
            invitation_id: { ...Ulid, description: 'also the share_id, if it becomes a share' },
            from_user: Type.String({ description: 'the sender' }),
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
  summary: 'Accept invitations to a contact of the caller',
  description:
    "Every invitation to the contact becomes a share in the user's inbox. This doesn't make the user findable by " +
    'the contact.',
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
