import { Type } from '../../platform/type.ts';
import { envelope, failureAnswers } from '../base/contract/envelope.ts';
import { Id, PathId } from '../base/contract/schemas.ts';
import { CurrentPassword, FreshCode } from '../identity/users/schemas.ts';

const Archive = {
  200: {
    description: 'a ZIP archive of JSON, NDJSON and files',
    content: { 'application/zip': { schema: Type.String({ format: 'binary' }) } },
  },
};

const Erased = Type.Object({
  complete: Type.Boolean({
    description: 'false: the account is closed, and the remaining steps are retried every hour',
  }),
  packetService: Type.Boolean({
    description:
      'whether the data in the packet service is erased too. If complete is true and this is false, it is in ' +
      'another database: an operator must run `fieldtrace erase user` there',
  }),
});

export const exportOwnSchema = {
  operationId: 'exportOwnData',
  tags: ['User'],
  summary: 'Export all data about the caller',
  description:
    'Returns a ZIP archive with the data of the trace backend and, if it uses the same database, of the packet ' +
    'service, as JSON and NDJSON, with the files that the user uploaded. Secrets are omitted. It ends after an ' +
    'hour.',
  response: { ...Archive, ...failureAnswers(401) },
};

export const exportUserSchema = {
  operationId: 'exportUserData',
  tags: ['Administration'],
  summary: 'Export all data about a user',
  params: Type.Object({ id: PathId }),
  response: { ...Archive, ...failureAnswers(401, 403, 404) },
};

export const eraseOwnSchema = {
  operationId: 'eraseOwnAccount',
  tags: ['User'],
  summary: 'Erase the account of the caller',
  description:
    'Permanently removes name, addresses, emails, contacts, sessions, keys and memberships from both services. ' +
    "Packets and the audit stay as evidence, under the user's number.",
  body: Type.Object({ currentPassword: CurrentPassword, code: FreshCode }),
  response: { 200: envelope(Erased, 'the result'), ...failureAnswers(401) },
};

export const eraseUserSchema = {
  operationId: 'eraseUserAccount',
  tags: ['Administration'],
  summary: 'Erase the account of a user',
  description: 'Permanent, like POST /api/user/erase, which you must use for yourself.',
  body: Type.Object({ id: Id }),
  response: { 200: envelope(Erased, 'the result'), ...failureAnswers(401, 403, 404) },
};
