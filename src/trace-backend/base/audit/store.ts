import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import type { Page } from '../contract/schemas.ts';
import type { Lists } from '../lists/lists.ts';
import { allOf } from '../lists/store.ts';

/** One change of state: who, when, what, from where. */
export interface AuditEntry {
  at: Date;
  /** null for the program itself and for requests without login */
  userId: number | null;
  /** the action, such as LOGIN or UPDATE_PRODUCT */
  action: string;
  /** kind of the record, such as user or product */
  entity: string;
  entityId: string;
  /** the client's address; empty for the program itself */
  address: string;
  /** further details; never a secret */
  details: Record<string, unknown>;
}

export interface StoredAuditEntry extends AuditEntry {
  id: number;
}

/** Writes an entry in the caller's transaction. */
export async function insertAudit(database: Database, entry: AuditEntry): Promise<void> {
  const { at, userId, action, entity, entityId, address, details } = entry;
  await execute(
    database,
    sql`
    INSERT INTO audit (at, user_id, action, entity, entity_id, address, details)
    VALUES (${at}, ${userId}, ${action}, ${entity}, ${entityId}, ${address}, ${JSON.stringify(details)}::jsonb)`,
  );
}

export interface AuditFilter {
  userIds?: readonly number[] | undefined;
  action?: string | undefined;
  entity?: string | undefined;
  entityId?: string | undefined;
  /** UTC, inclusive */
  from?: string | undefined;
  /** UTC, inclusive */
  to?: string | undefined;
}

/** How users relate to the requested entries: they acted, are concerned, or either. */
export const PARTS = ['ACTED', 'CONCERNED', 'BOTH'] as const;
export type Part = (typeof PARTS)[number];

/** The condition that users acted. With one user, the index also provides the order of writing. */
function actedBy(ids: readonly number[]): Sql {
  return ids.length === 1 ? sql`user_id = ${ids[0]}` : sql`user_id = ANY (${ids}::integer[])`;
}

/** A page of the audit in the order of writing, and the total number of entries. */
export async function listAudit(
  database: Database,
  lists: Lists,
  filter: AuditFilter,
  page: Page,
): Promise<{ items: StoredAuditEntry[]; count: number }> {
  const where = allOf([filter.userIds && actedBy(filter.userIds), ...conditionsOf(filter)]);
  const source = { table: 'audit', columns: ENTRY, key: 'id', gather: where, look: where };
  return lists.list<StoredAuditEntry>(database, `audit ${JSON.stringify(filter)}`, source, page);
}

/** The conditions of a filter, except the users. */
function conditionsOf({ action, entity, entityId, from, to }: AuditFilter): (Sql | undefined)[] {
  return [
    action === undefined ? undefined : sql`action = ${action}`,
    entity === undefined ? undefined : sql`entity = ${entity}`,
    entityId === undefined ? undefined : sql`entity_id = ${entityId}`,
    from === undefined ? undefined : sql`at >= ${from}::timestamptz`,
    to === undefined ? undefined : sql`at <= ${to}::timestamptz`,
  ];
}

const ENTRY = sql`id::float8 AS id, at, user_id AS "userId", action, entity, entity_id AS "entityId", address, details`;

/** Conditions of the entries that concern a person; each has an index in the order of writing. */
const CONCERNED = [
  sql`entity = 'user' AND entity_id = person::text`,
  sql`details ->> 'userId' = person::text`,
];

/**
 * The statement of a page of the entries that concern users, with `BOTH` also of their own actions. It reads one page per
 * user and index. Exported so that a test can check its plan.
 */
export function concernedStatement(
  filter: AuditFilter & { userIds: readonly number[] },
  part: Exclude<Part, 'ACTED'>,
  { after, sort, limit }: Pick<Page, 'after' | 'sort' | 'limit'>,
): Sql {
  const order = raw(`ORDER BY id ${sort} LIMIT`);
  const beyond = after === undefined ? undefined : sql`id ${raw(sort === 'ASC' ? '>' : '<')} ${after}`;
  const others = [beyond, ...conditionsOf(filter)];
  const matching = [...CONCERNED, ...(part === 'BOTH' ? [sql`user_id = person`] : [])].map(
    condition => sql`(SELECT id FROM audit WHERE ${allOf([condition, ...others])} ${order} ${limit})`,
  );
  return sql`
    SELECT ${ENTRY} FROM (
      SELECT DISTINCT found.id FROM unnest(${filter.userIds}::integer[]) AS person
      CROSS JOIN LATERAL (${join(matching, ' UNION ALL ')}) AS found
      ${order} ${limit}) AS page
    JOIN audit USING (id) ORDER BY audit.id ${raw(sort)}`;
}

/** A page of the entries that concern users, with `BOTH` also of their own actions, in the order of writing. */
export async function listConcerned(
  database: Database,
  ...parameters: Parameters<typeof concernedStatement>
): Promise<StoredAuditEntry[]> {
  const { rows } = await database.query<StoredAuditEntry>(concernedStatement(...parameters));
  return rows;
}

/** The newest entries of an action, newest first, with the id of their record as `command`. */
export async function listActions(
  database: Database,
  action: string,
  limit: number,
): Promise<{ at: Date; command: string; details: Record<string, unknown> }[]> {
  const { rows } = await database.query<{ at: Date; command: string; details: Record<string, unknown> }>(sql`
    SELECT at, entity_id AS command, details FROM audit WHERE action = ${action} ORDER BY id DESC LIMIT ${limit}`);
  return rows;
}
