import { Type } from '../../../../platform/type.ts';
import { errorAnswers, errors, IdempotencyHeaders, UserId } from '../../../core/contract/schemas.ts';
import { MAX_CONTACT } from './contact.ts';

const tags = ['Directory'];

/** Contacts of one user, at most. */
const MAX_CONTACTS = 20;

const UserPath = Type.Object({ user_id: UserId });

const contactList = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: MAX_CONTACT }), {
    maxItems: MAX_CONTACTS,
    description,
    examples: [['ben@example.org', '+254 700 000 000']],
  });

const Discoverable = Type.Boolean({ description: 'whether others may find the user by these contacts' });

const Entry = Type.Object(
  {
    user_id: Type.String(),
    contacts: contactList('normalised: addresses in lower case, phone numbers as + and digits'),
    discoverable: Discoverable,
    unconfirmed: contactList('those of a user with a token that are not effective until they are confirmed'),
  },
  { description: 'the entry' },
);

export const putEntrySchema = {
  operationId: 'putDirectoryEntry',
  tags,
  summary: 'Set the contacts by which a user can be found',
  description:
    'Replaces an earlier entry. With a token, only for its user; a contact is then effective when the user registry has ' +
    'it for the user, or the link that is mailed to it has been confirmed (a phone number, when an invitation to it is ' +
    'accepted). Without a token every contact is accepted, and counts for what is shared without one, unless the user ' +
    "registry or an effective contact of a user with a token says whose it is; the user's first token makes it " +
    'ineffective. Invitations to contacts by which the user can be found from now on become shares. A user may enter 60 ' +
    'different contacts an hour, and an address without a token 600, with those it shares with (429; RATE_LIMIT). At ' +
    'most 20 confirmations an hour are mailed for a user (429).',
  params: UserPath,
  body: Type.Object(
    {
      contacts: contactList(
        'e-mail addresses, international phone numbers (+…), or other names; case is ignored',
      ),
      discoverable: Discoverable,
    },
    {
      additionalProperties: true,
      examples: [{ contacts: ['ben@example.org', '+254 700 000 000'], discoverable: true }],
    },
  ),
  response: { 200: Entry, ...errorAnswers(400, 403, 413, 429, 500, 503) },
};

export const getEntrySchema = {
  operationId: 'getDirectoryEntry',
  tags,
  summary: 'The contacts by which a user can be found',
  params: UserPath,
  response: { 200: Entry, ...errorAnswers(400, 403, 404, 500, 503) },
};

export const deleteEntrySchema = {
  operationId: 'deleteDirectoryEntry',
  tags,
  summary: 'Remove a user from the directory',
  description: 'Shares stay. Deleting a missing entry is not an error.',
  params: UserPath,
  response: {
    204: Type.Null({ description: 'the user cannot be found anymore' }),
    ...errorAnswers(400, 403, 500, 503),
  },
};

export const confirmSchema = {
  operationId: 'confirmContact',
  tags,
  summary: 'Confirm a contact',
  description:
    'With the token from the link that was mailed to it, by the user who listed it. Valid once and for 7 days; an ' +
    'invalid token, or one of another user, gets the same answer as an unknown one.',
  headers: IdempotencyHeaders,
  params: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link in the mail' }),
  }),
  body: Type.Object(
    {
      user_id: Type.Optional({ ...UserId, description: 'who listed the contact; required without a token' }),
    },
    { additionalProperties: true, examples: [{ user_id: 'ben' }] },
  ),
  response: { 200: Entry, ...errorAnswers(400, 403, 404, 409, 413, 500, 503) },
};

export const landingSchema = ({
  operationId,
  tag,
  title,
}: {
  operationId: string;
  tag: string;
  title: string;
}) => ({
  operationId,
  tags: [tag],
  summary: `${title}: what a browser shows`,
  description: 'The page of a mailed link. It is the same for every token and changes nothing.',
  params: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link' }),
  }),
  response: {
    200: {
      description: 'a page that says what to do',
      content: { 'text/html': { schema: Type.String() } },
    },
    400: errors[400],
    500: errors[500],
  },
});
