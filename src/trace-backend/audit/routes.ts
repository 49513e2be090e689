import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import { parseRangeEnd } from '../../platform/time.ts';
import { ok } from '../contract/envelope.ts';
import { idOf, listAnswer, pageOf } from '../contract/schemas.ts';
import type { Lists } from '../lists/lists.ts';
import { listAuditSchema, SORTABLE } from './schemas.ts';
import { listAudit } from './store.ts';

export function registerAudit(app: Server, { pool, lists }: { pool: pg.Pool; lists: Lists }): void {
  app.get(
    '/api/audit/list',
    {
      config: { access: 'system-admin' },
      schema: listAuditSchema,
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
