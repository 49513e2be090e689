import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { envelope, failureAnswers } from '../contract/envelope.ts';
import { AFTER, Id, listOf, listQuery, NO_NUL } from '../contract/schemas.ts';
import { PARTS } from './store.ts';

const AuditEntry = named(
  'AuditEntry',
  Type.Object({
    id: Type.Integer(),
    at: Type.String({ description: 'ISO 8601, UTC', examples: ['2026-03-01T08:15:00.000Z'] }),
    userId: Type.Optional(
      Type.Integer({ description: 'the user; absent for the program and for requests without login' }),
    ),
    user: Type.Optional(
      Type.Object(
        { name: Type.String(), surname: Type.String(), email: Type.String() },
        { description: 'who the user is now' },
      ),
    ),
    action: Type.String({ examples: ['UPDATE_USER_PROFILE'] }),
    entity: Type.String({ description: 'kind of the record', examples: ['user'] }),
    entityId: Type.String({ examples: ['7'] }),
    address: Type.String({ description: 'client address', examples: ['192.0.2.7'] }),
    details: Type.Object({}, { additionalProperties: true }),
  }),
);

const word = (description: string) =>
  Type.Optional(Type.String({ maxLength: 100, pattern: NO_NUL, description }));

export const SORTABLE = ['id'] as const;

export const listAuditSchema = {
  operationId: 'listAuditEntries',
  tags: ['Audit'],
  summary: 'The audit: who changed what, when and from where',
  description: 'Every change of state since the first start. Entries are never changed or removed.',
  querystring: listQuery(SORTABLE, {
    ...AFTER,
    userId: Type.Optional(Id),
    user: word('part of the name or e-mail address of the user; it may fit at most 200 users'),
    part: Type.Optional(
      Type.Enum([...PARTS], {
        default: 'ACTED',
        description:
          'what user or userId selects: ACTED what they did; CONCERNED what concerns them, as the account that it was ' +
          'done to or the member of a company; BOTH. With the latter two the answer has no count, and offset is 0: ' +
          'use after',
      }),
    ),
    action: word('the action, such as LOGIN; /api/audit/actions has all'),
    entity: word('kind of the record, such as user; /api/audit/actions has all'),
    entityId: word('id of the record'),
    from: word('ISO 8601; at this time or later'),
    to: word('ISO 8601; at this time or earlier'),
  }),
  response: { 200: envelope(listOf(AuditEntry), 'a page of the audit'), ...failureAnswers(401, 403) },
};

export const listActionsSchema = {
  operationId: 'listAuditActions',
  tags: ['Audit'],
  summary: 'The actions that the audit records, and the kinds of records',
  response: {
    200: envelope(
      Type.Object({
        actions: Type.Array(Type.String({ examples: ['ACTIVATE_USER'] }), {
          description: 'in the order of the alphabet',
        }),
        entities: Type.Array(Type.String({ examples: ['user'] }), {
          description: 'the kinds of records, in the order of the alphabet',
        }),
      }),
      'the actions and the kinds of records',
    ),
    ...failureAnswers(401, 403),
  },
};
