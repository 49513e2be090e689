import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { parseRangeEnd } from '../../../platform/time.ts';
import { ok } from '../contract/envelope.ts';
import { idOf, listAnswer, type Page, pageOf } from '../contract/schemas.ts';
import type { Lists } from '../lists/lists.ts';
import { AUDIT_ACTIONS, AUDIT_ENTITIES } from './actions.ts';
import { listActionsSchema, listAuditSchema, SORTABLE } from './schemas.ts';
import { type AuditFilter, listAudit, listConcerned, type Part, type StoredAuditEntry } from './store.ts';

/** Users that a search by name or address may find, at most. */
const MAX_SEARCHED_USERS = 200;

export interface AuditContext {
  pool: pg.Pool;
  lists: Lists;
  /** the ids of users by a part of their name or address */
  searchUserIds: (database: pg.Pool, text: string, limit: number) => Promise<number[]>;
  /** the users of ids, in their order */
  findUsers: (database: pg.Pool, ids: readonly number[]) => Promise<(AuditUser | undefined)[]>;
}

interface AuditUser {
  id: number;
  name: string;
  surname: string;
  email: string;
}

export function registerAudit(app: Server, context: AuditContext): void {
  const config = { access: 'system-admin' } as const;

  app.get('/api/audit/list', { config, schema: listAuditSchema }, async ({ query }) => {
    const { action, entity, entityId } = query;
    const page = pageOf(query, SORTABLE);
    const filter = {
      ...{ action, entity, entityId },
      userIds: await usersOf(query, context),
      from: timeOf(query.from, 'from'),
      to: timeOf(query.to, 'to'),
    };
    const { items, count } = await find(context, filter, query.part ?? 'ACTED', page);
    const people = await peopleIn(items, context);
    const entries = items.map(({ userId, at, ...entry }) => {
      const user = userId === null ? undefined : people.get(userId);
      return { ...entry, at: at.toISOString(), ...(userId !== null && { userId }), ...(user && { user }) };
    });
    const answered = count === undefined ? { ...page, requestType: 'FETCH' as const } : page;
    return ok(listAnswer(answered, { items: entries, count: count ?? 0 }));
  });

  app.get('/api/audit/actions', { config, schema: listActionsSchema }, async () =>
    ok({ actions: [...AUDIT_ACTIONS], entities: [...AUDIT_ENTITIES] }),
  );
}

/**
 * A page of entries; without a count for those that concern users.
 *
 * @throws Problem invalid if it can only be paged by `after`, or no user is named
 */
async function find(
  { pool, lists }: AuditContext,
  filter: AuditFilter,
  part: Part,
  page: Page,
): Promise<{ items: StoredAuditEntry[]; count?: number }> {
  if (part === 'ACTED') return listAudit(pool, lists, filter, page);
  const { userIds } = filter;
  if (userIds === undefined) throw new Problem('audit.part_without_user', { field: 'part' });
  if (page.requestType === 'COUNT') throw new Problem('audit.part_without_count', { field: 'requestType' });
  if (page.offset > 0) throw new Problem('audit.part_without_offset', { field: 'offset' });
  return { items: await listConcerned(pool, { ...filter, userIds }, part, page) };
}

/**
 * The users whose entries are wanted; undefined for all.
 *
 * @throws Problem invalid if a search finds too many
 */
async function usersOf(
  { userId, user }: { userId?: string | number; user?: string },
  { pool, searchUserIds }: AuditContext,
): Promise<number[] | undefined> {
  const id = userId === undefined ? undefined : idOf(userId);
  if (user === undefined) return id === undefined ? undefined : [id];
  const found = await searchUserIds(pool, user, MAX_SEARCHED_USERS + 1);
  if (found.length > MAX_SEARCHED_USERS) {
    throw new Problem('audit.too_many_users', { field: 'user', max: MAX_SEARCHED_USERS });
  }
  return id === undefined ? found : found.filter(one => one === id);
}

/** The names and addresses of those who did what is on a page. */
async function peopleIn(
  items: readonly StoredAuditEntry[],
  { pool, findUsers }: AuditContext,
): Promise<Map<number, Omit<AuditUser, 'id'>>> {
  const ids = [...new Set(items.flatMap(({ userId }) => userId ?? []))];
  const users = (await findUsers(pool, ids)).filter(user => user !== undefined);
  return new Map(users.map(({ id, name, surname, email }) => [id, { name, surname, email }]));
}

function timeOf(text: string | undefined, field: 'from' | 'to'): string | undefined {
  if (text === undefined) return undefined;
  const moment = parseRangeEnd(text, field);
  if (moment !== undefined) return moment;
  throw new Problem('validation.no_date_or_time', { field });
}
