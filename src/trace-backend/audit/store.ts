import sql, { type Sql } from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';
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
  await database.query(sql`
    INSERT INTO audit (at, user_id, action, entity, entity_id, address, details)
    VALUES (${at}, ${userId}, ${action}, ${entity}, ${entityId}, ${address}, ${JSON.stringify(details)}::jsonb)`);
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

/** For one user the index gives the order of writing, too. */
function byUsers(ids: readonly number[]): Sql {
  return ids.length === 1 ? sql`user_id = ${ids[0]}` : sql`user_id = ANY (${ids}::integer[])`;
}

/** A page of the audit in the order of writing, and the total number of entries. */
export async function listAudit(
  database: Database,
  lists: Lists,
  filter: AuditFilter,
  page: Page,
): Promise<{ items: StoredAuditEntry[]; count: number }> {
  const { userIds, action, entity, entityId, from, to } = filter;
  const where = allOf([
    userIds && byUsers(userIds),
    action === undefined ? undefined : sql`action = ${action}`,
    entity === undefined ? undefined : sql`entity = ${entity}`,
    entityId === undefined ? undefined : sql`entity_id = ${entityId}`,
    from === undefined ? undefined : sql`at >= ${from}::timestamptz`,
    to === undefined ? undefined : sql`at <= ${to}::timestamptz`,
  ]);
  const columns = sql`id::float8 AS id, at, user_id AS "userId", action, entity, entity_id AS "entityId", address,
    details`;
  const source = { table: 'audit', columns, key: 'id', gather: where, look: where };
  return lists.list<StoredAuditEntry>(database, `audit ${JSON.stringify(filter)}`, source, page);
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
