import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../access/requester.ts';
import { type AuditEvent, audit } from '../audit/audit.ts';
import { checkVersion } from '../contract/versions.ts';
import type { Versioned } from './store.ts';

/**
 * Checks that a record exists and, with If-Match, that it has not changed since the sender read it.
 *
 * @param found the record; undefined if there is none
 * @param unknown makes the error for a missing record
 * @throws Problem precondition_failed
 */
export function current<Row extends Pick<Versioned, 'version'>>(
  { ifMatch }: Pick<Requester, 'ifMatch'>,
  found: Row | undefined,
  unknown: () => Problem,
): Row {
  if (!found) throw unknown();
  checkVersion(ifMatch, found.version);
  return found;
}

/** For `catch`: replaces the error for a record that is not found, or hidden, by that of a record which belongs to it. */
export function notFoundAs(unknown: () => Problem): (error: unknown) => never {
  return error => {
    throw error instanceof Problem && error.code === 'not_found' ? unknown() : error;
  };
}

/** The steps of saving a record. */
interface Saving<Row extends Versioned, After> {
  /** finds and locks it; without an id, for a new record, it can lock something else */
  lock: (database: Database, id: number | undefined) => Promise<Row | undefined>;
  unknown: () => Problem;
  /** returns the record after the change, and the names of the fields that differ */
  change: (database: Database, before: Row | undefined) => Promise<{ after: After; fields: string[] }>;
  /** stores it; returns its id */
  store: (
    database: Database,
    before: Row | undefined,
    change: { after: After; fields: string[] },
    at: Date,
  ) => Promise<number>;
  /** the audit event without the id; `fields` is undefined for a new record */
  event: (after: After, fields: string[] | undefined) => Omit<AuditEvent, 'entityId'>;
}

/**
 * Stores a new record, or the next version of one, with its audit entry. A change without effect stores nothing.
 *
 * @param id undefined for a new record
 * @returns its id
 * @throws Problem precondition_failed, and errors of the steps
 */
export async function saveRecord<Row extends Versioned, After>(
  pool: pg.Pool,
  requester: Requester,
  id: number | undefined,
  { lock, unknown, change, store, event }: Saving<Row, After>,
): Promise<number> {
  return transaction(pool, async database => {
    const found = await lock(database, id);
    const before = id === undefined ? undefined : current(requester, found, unknown);
    const changed = await change(database, before);
    if (before && changed.fields.length === 0) return before.id;
    const entityId = await store(database, before, changed, new Date());
    await audit(database, requester, { ...event(changed.after, before && changed.fields), entityId });
    return entityId;
  });
}

/** Records of one kind that refer to another record: the kind, an example's name, and their number. */
export interface Use {
  noun: string;
  name: string;
  count: number;
}

/** The steps of deleting a record. */
interface Removal<Row extends Versioned> {
  lock: (database: Database, id: number) => Promise<Row | undefined>;
  unknown: () => Problem;
  /** word for its kind, for the error */
  noun: string;
  /** finds the records that refer to it */
  findUses: (database: Database, id: number) => Promise<Use[]>;
  remove: (database: Database, id: number) => Promise<void>;
  event: (before: Row) => Omit<AuditEvent, 'entityId'>;
}

/**
 * Deletes a record that nothing refers to, with its audit entry.
 *
 * @throws Problem precondition_failed; invalid, with the names of what refers to it
 */
export async function removeRecord<Row extends Versioned>(
  pool: pg.Pool,
  requester: Requester,
  id: number,
  { lock, unknown, noun, findUses, remove, event }: Removal<Row>,
): Promise<void> {
  await transaction(pool, async database => {
    const before = current(requester, await lock(database, id), unknown);
    const uses = await findUses(database, id);
    if (uses.length > 0) throw new Problem('code.in_use', { noun, uses: namesOf(uses) });
    await remove(database, id);
    await audit(database, requester, { ...event(before), entityId: id });
  });
}

/** Describes the records that refer to a record, for the error of its deletion. */
export function namesOf(uses: readonly Use[]): string {
  const named = uses.map(({ noun: kind, name, count }) =>
    count === 1
      ? `the ${kind} ${JSON.stringify(name)}`
      : `${count} of kind ${kind}, such as ${JSON.stringify(name)}`,
  );
  return named.join(' and ');
}

/** The fields of a change that were sent: those that are not undefined. */
export function sentFields<Fields extends object>(fields: Fields): Partial<Fields> {
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(sent) as Partial<Fields>;
}
