import { Type } from 'typebox';
import { errorAnswers, errors, IdempotencyHeaders, UserId } from '../../contract/schemas.ts';
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
    contacts: contactList('as they are looked for: addresses in lower case, phone numbers as + and digits'),
    discoverable: Discoverable,
    unconfirmed: contactList('those of the contacts that lead nobody to the user before they are confirmed'),
  },
  { description: 'the entry' },
);

export const putEntrySchema = {
  tags,
  summary: 'Say by which contacts a user can be found',
  description:
    'Takes the place of an earlier entry. With a token only one`s own; a contact then counts when the link that is ' +
    'mailed to it has confirmed it (a phone number, when an invitation to it is accepted). Without tokens contacts ' +
    'count at once. Invitations to contacts by which the user can be found from now on become shares. At most 20 ' +
    'confirmations an hour are mailed for a user (429).',
  params: UserPath,
  body: Type.Object(
    {
      contacts: contactList(
        'e-mail addresses, international phone numbers (+…), or other names; case does not count',
      ),
      discoverable: Discoverable,
    },
    {
      additionalProperties: true,
      examples: [{ contacts: ['ben@example.org', '+254 700 000 000'], discoverable: true }],
    },
  ),
  response: { 200: Entry, ...errorAnswers(400, 403, 409, 413, 429, 500, 503) },
};

export const getEntrySchema = {
  tags,
  summary: 'By which contacts a user can be found',
  params: UserPath,
  response: { 200: Entry, ...errorAnswers(400, 403, 404, 500, 503) },
};

export const deleteEntrySchema = {
  tags,
  summary: 'Take a user out of the directory',
  description: 'Shares stay. Deleting what is not there is fine.',
  params: UserPath,
  response: {
    204: Type.Null({ description: 'the user cannot be found any more' }),
    ...errorAnswers(400, 403, 500, 503),
  },
};

export const confirmSchema = {
  tags,
  summary: 'Confirm a contact',
  description:
    'With the token from the link that was mailed to it, by the user who listed it. Good once and for 7 days; one ' +
    'that is not good, or another user`s, is answered like one that never was.',
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

export const landingSchema = ({ tag, title }: { tag: string; title: string }) => ({
  tags: [tag],
  summary: `${title}: what a browser shows`,
  description: 'The page behind a mailed link. The same for every token; it changes nothing.',
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
