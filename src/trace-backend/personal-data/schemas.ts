import { Type } from 'typebox';
import { Code, CurrentPassword } from '../accounts/users/schemas.ts';
import { envelope, failureAnswers } from '../contract/envelope.ts';
import { Id, PathId } from '../contract/schemas.ts';

const Archive = {
  200: {
    description: 'a ZIP archive of JSON, NDJSON and files',
    content: { 'application/zip': { schema: Type.String({ format: 'binary' }) } },
  },
};

const Erased = Type.Object({
  complete: Type.Boolean({
    description: 'false: the account is closed, and the rest is tried again every hour until it is erased',
  }),
  packetService: Type.Boolean({
    description:
      'whether what the packet service keeps is erased, too. Where complete is true and this is false, it keeps its data elsewhere: an operator runs `fieldtrace erase user` there',
  }),
});

export const exportOwnSchema = {
  tags: ['User'],
  summary: 'Everything that is kept about the caller',
  description:
    'A ZIP archive: what the trace backend and, where it keeps its data in the same database, the packet service know of the user, as JSON and NDJSON, with the files that the user uploaded. Secrets are left out. It ends after an hour.',
  response: { ...Archive, ...failureAnswers(401) },
};

export const exportUserSchema = {
  tags: ['Administration'],
  summary: 'Everything that is kept about a user',
  params: Type.Object({ id: PathId }),
  response: { ...Archive, ...failureAnswers(401, 403, 404) },
};

export const eraseOwnSchema = {
  tags: ['User'],
  summary: 'Erase the caller`s account',
  description:
    'For good. Name, addresses, mails, contacts, sessions, keys and memberships are removed from both services; packets and the audit stay as evidence, under the user`s number.',
  body: Type.Object({ currentPassword: CurrentPassword, code: Type.Optional(Code) }),
  response: { 200: envelope(Erased, 'what became of it'), ...failureAnswers(401) },
};

export const eraseUserSchema = {
  tags: ['Administration'],
  summary: 'Erase a user`s account',
  description: 'For good, as POST /api/user/erase does. Nobody does it to themself here.',
  body: Type.Object({ id: Id }),
  response: { 200: envelope(Erased, 'what became of it'), ...failureAnswers(401, 403, 404) },
};
