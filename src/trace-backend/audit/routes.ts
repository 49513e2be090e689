import type pg from 'pg';
import { Type } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import { parseRangeEnd } from '../../platform/time.ts';
import { envelope, failureAnswers, ok } from '../contract/envelope.ts';
import { Id, idOf, listAnswer, listOf, listQuery, NO_NUL, pageOf } from '../contract/schemas.ts';
import type { Lists } from '../lists/lists.ts';
import { listAudit } from './store.ts';

const AuditEntry = Type.Object({
  id: Type.Integer(),
  at: Type.String({ description: 'ISO 8601, UTC', examples: ['2026-03-01T08:15:00.000Z'] }),
  userId: Type.Optional(
    Type.Integer({ description: 'who did it; absent for the program and for strangers' }),
  ),
  action: Type.String({ examples: ['UPDATE_USER_PROFILE'] }),
  entity: Type.String({ description: 'kind of the record', examples: ['user'] }),
  entityId: Type.String({ examples: ['7'] }),
  address: Type.String({ description: 'address it came from', examples: ['192.0.2.7'] }),
  details: Type.Object({}, { additionalProperties: true }),
});

const word = (description: string) =>
  Type.Optional(Type.String({ maxLength: 100, pattern: NO_NUL, description }));

const SORTABLE = ['id'] as const;

export function registerAudit(app: Server, { pool, lists }: { pool: pg.Pool; lists: Lists }): void {
  app.get(
    '/api/audit/list',
    {
      config: { access: 'system-admin' },
      schema: {
        tags: ['Audit'],
        summary: 'Who changed what, when and from where',
        description: 'Every change of state since the first start. Entries are never changed nor removed.',
        querystring: listQuery(SORTABLE, {
          userId: Type.Optional(Id),
          action: word('what was done, such as LOGIN'),
          entity: word('kind of the record, such as user'),
          entityId: word('id of the record'),
          from: word('ISO 8601; at this time or later'),
          to: word('ISO 8601; at this time or earlier'),
        }),
        response: { 200: envelope(listOf(AuditEntry), 'a page of the audit'), ...failureAnswers(401, 403) },
      },
    },
    async ({ query }) => {
      const { userId, action, entity, entityId } = query;
      const page = pageOf(query, SORTABLE);
      const filter = {
        userId: userId === undefined ? undefined : idOf(userId),
        action,
        entity,
        entityId,
        from: timeOf(query.from, 'from'),
        to: timeOf(query.to, 'to'),
      };
      const { items, count } = await listAudit(pool, lists, filter, page);
      const entries = items.map(({ userId, at, ...entry }) => ({
        ...entry,
        at: at.toISOString(),
        ...(userId !== null && { userId }),
      }));
      return ok(listAnswer(page, { items: entries, count }));
    },
  );
}

function timeOf(text: string | undefined, field: 'from' | 'to'): string | undefined {
  if (text === undefined) return undefined;
  const moment = parseRangeEnd(text, field);
  if (moment !== undefined) return moment;
  const sentence = `${field} must be an ISO 8601 date or date-time`;
  throw new Problem('invalid', sentence, { fields: { [field]: sentence } });
}
