import { Type } from '../../../../platform/type.ts';
import { errorAnswers, errors, IdempotencyHeaders, UserId } from '../../../core/contract/schemas.ts';
import { MAX_CONTACT } from './contact.ts';

const tags = ['Directory'];

/** Maximum contacts per user. */
const MAX_CONTACTS = 20;

const UserPath = Type.Object({ user_id: UserId });

const contactList = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: MAX_CONTACT }), {
    maxItems: MAX_CONTACTS,
    description,
    examples: [['ben@example.org', '+254 700 000 000']],
  });

const Discoverable = Type.Boolean({ description: 'whether others can find the user by these contacts' });

const Entry = Type.Object(
  {
    user_id: Type.String(),
    contacts: contactList('normalised: addresses in lower case, phone numbers as + and digits'),
    discoverable: Discoverable,
    unconfirmed: contactList('contacts that take effect once the user confirms them'),
  },
  { description: 'the entry' },
);

export const putEntrySchema = {
  operationId: 'putDirectoryEntry',
  tags,
  summary: 'Set the contacts that others can find a user by',
  description:
    'Replaces the previous entry. With a token, users can only change their own. A contact then takes effect if ' +
    'the user registry has it for the user, or once the user confirms it by a mailed link (a phone number: by ' +
    'accepting an invitation to it). Without a token, every contact is accepted for shares without a token, ' +
    'unless it belongs to a user of the registry or to a user with a token; it loses its effect when the user ' +
    'first uses a token. Invitations to contacts that take effect become shares. A user may enter 60 different ' +
    'contacts an hour, and an address without a token 600, including those it shares with (429; RATE_LIMIT). At ' +
    'most 20 confirmations an hour are emailed per user (429).',
  params: UserPath,
  body: Type.Object(
    {
      contacts: contactList(
        'email addresses, international phone numbers (+…) or other names; case is ignored',
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
  summary: 'Get the contacts that others can find a user by',
  params: UserPath,
  response: { 200: Entry, ...errorAnswers(400, 403, 404, 500, 503) },
};

export const deleteEntrySchema = {
  operationId: 'deleteDirectoryEntry',
  tags,
  summary: 'Remove a user from the directory',
  description: 'Shares stay. Deleting a missing entry succeeds too.',
  params: UserPath,
  response: {
    204: Type.Null({ description: 'the user can no longer be found' }),
    ...errorAnswers(400, 403, 500, 503),
  },
};

export const confirmSchema = {
  operationId: 'confirmContact',
  tags,
  summary: 'Confirm a contact',
  description:
    'The user who added the contact confirms it with the token from the mailed link. The token works once, for 7 ' +
    'days. Invalid and unknown tokens, and those of other users, get the same answer.',
  headers: IdempotencyHeaders,
  params: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link in the email' }),
  }),
  body: Type.Object(
    {
      user_id: Type.Optional({
        ...UserId,
        description: 'the user who added the contact; required without a token',
      }),
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
  summary: `${title}: the page for browsers`,
  description: 'The page that mailed links open. It is the same for every token and changes nothing.',
  params: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link' }),
  }),
  response: {
    200: {
      description: 'a page with instructions',
      content: { 'text/html': { schema: Type.String() } },
    },
    400: errors[400],
    500: errors[500],
  },
});
