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

/** Maximum number of users that a search by name or address may find. */
const MAX_SEARCHED_USERS = 200;

interface AuditContext {
  pool: pg.Pool;
  lists: Lists;
  /** finds the ids of users by a part of their name or email address */
  searchUserIds: (database: pg.Pool, text: string, limit: number) => Promise<number[]>;
  /** finds users by id, in the order of the ids */
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
      action,
      entity,
      entityId,
      userIds: await userIdsOf(query, context),
      from: limitOf(query.from, 'from'),
      to: limitOf(query.to, 'to'),
    };
    const { items, count } = await findPage(context, filter, query.part ?? 'ACTED', page);
    const users = await usersOfEntries(items, context);
    const entries = items.map(({ userId, at, ...entry }) => {
      const user = userId === null ? undefined : users.get(userId);
      return { ...entry, at: at.toISOString(), ...(userId !== null && { userId }), ...(user && { user }) };
    });
    const answerPage = count === undefined ? { ...page, requestType: 'FETCH' as const } : page;
    return ok(listAnswer(answerPage, { items: entries, count: count ?? 0 }));
  });

  app.get('/api/audit/actions', { config, schema: listActionsSchema }, async () =>
    ok({ actions: [...AUDIT_ACTIONS], entities: [...AUDIT_ENTITIES] }),
  );
}

/**
 * A page of entries; entries that concern users come without a count.
 *
 * @throws Problem invalid if it can only be paged by `after`, or no user is named
 */
async function findPage(
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
 * The ids of the requested users; undefined for all users.
 *
 * @throws Problem invalid if a search finds too many
 */
async function userIdsOf(
  { userId, user }: { userId?: string | number; user?: string },
  { pool, searchUserIds }: AuditContext,
): Promise<number[] | undefined> {
  const id = userId === undefined ? undefined : idOf(userId);
  if (user === undefined) return id === undefined ? undefined : [id];
  const found = await searchUserIds(pool, user, MAX_SEARCHED_USERS + 1);
  if (found.length > MAX_SEARCHED_USERS) {
    throw new Problem('audit.too_many_users', { field: 'user', max: MAX_SEARCHED_USERS });
  }
  return id === undefined ? found : found.filter(foundId => foundId === id);
}

/** The names and addresses of the users who acted in these entries. */
async function usersOfEntries(
  items: readonly StoredAuditEntry[],
  { pool, findUsers }: AuditContext,
): Promise<Map<number, Omit<AuditUser, 'id'>>> {
  const ids = [...new Set(items.flatMap(({ userId }) => userId ?? []))];
  const users = (await findUsers(pool, ids)).filter(user => user !== undefined);
  return new Map(users.map(({ id, name, surname, email }) => [id, { name, surname, email }]));
}

function limitOf(text: string | undefined, field: 'from' | 'to'): string | undefined {
  if (text === undefined) return undefined;
  const moment = parseRangeEnd(text, field);
  if (moment !== undefined) return moment;
  throw new Problem('validation.no_date_or_time', { field });
}
