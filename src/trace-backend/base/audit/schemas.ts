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
      Type.Integer({
        description: 'the user; absent for actions of the program and requests without a login',
      }),
    ),
    user: Type.Optional(
      Type.Object(
        { name: Type.String(), surname: Type.String(), email: Type.String() },
        { description: "the user's current data" },
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
  summary: 'Search the audit log',
  description:
    'Who changed what, when and from where: every change of state since the first start. Entries are never ' +
    'changed or removed.',
  querystring: listQuery(SORTABLE, {
    ...AFTER,
    userId: Type.Optional(Id),
    user: word("part of the user's name or email address; can match at most 200 users"),
    part: Type.Optional(
      Type.Enum([...PARTS], {
        default: 'ACTED',
        description:
          'how to apply user or userId: ACTED: actions by them; CONCERNED: actions that affect them or their ' +
          'membership; BOTH. CONCERNED and BOTH return no count and need offset 0: use after',
      }),
    ),
    action: word('the action, such as LOGIN; /api/audit/actions lists all'),
    entity: word('kind of the record, such as user; /api/audit/actions lists all'),
    entityId: word('id of the record'),
    from: word('ISO 8601, inclusive: at this time or later'),
    to: word('ISO 8601, inclusive: at this time or earlier'),
  }),
  response: { 200: envelope(listOf(AuditEntry), 'a page of audit entries'), ...failureAnswers(401, 403) },
};

export const listActionsSchema = {
  operationId: 'listAuditActions',
  tags: ['Audit'],
  summary: 'List the actions and record kinds of the audit',
  response: {
    200: envelope(
      Type.Object({
        actions: Type.Array(Type.String({ examples: ['ACTIVATE_USER'] }), {
          description: 'in alphabetical order',
        }),
        entities: Type.Array(Type.String({ examples: ['user'] }), {
          description: 'kinds of records, in alphabetical order',
        }),
      }),
      'the actions and record kinds',
    ),
    ...failureAnswers(401, 403),
  },
};
