import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../access/requester.ts';
import { type AuditEvent, audit } from '../audit/audit.ts';
import { checkVersion } from '../contract/versions.ts';
import type { Versioned } from './store.ts';

/**
 * The record that a change is made to, in the version that its sender has read.
 *
 * @param found undefined if there is none
 * @param unknown the error for that
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

/** How a record is saved. */
interface Saving<Row extends Versioned, After> {
  /** finds it under a lock; also called without an id, for a new one */
  lock: (database: Database, id: number | undefined) => Promise<Row | undefined>;
  unknown: () => Problem;
  /** what it is after the change, and the names of the fields that differ */
  change: (database: Database, before: Row | undefined) => Promise<{ after: After; fields: string[] }>;
  /** stores it; returns its id */
  store: (
    database: Database,
    before: Row | undefined,
    change: { after: After; fields: string[] },
    at: Date,
  ) => Promise<number>;
  /** what the audit says, besides the id; `fields` is undefined for a new record */
  event: (after: After, fields: string[] | undefined) => Omit<AuditEvent, 'entityId'>;
}

/**
 * Stores a new record, or the next version of one, with its audit entry. A change without effect stores nothing.
 *
 * @param id undefined for a new one
 * @returns its id
 * @throws Problem precondition_failed, and what the functions throw
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

/** Records that refer to another one: their kind, the name of one of them, and how many there are. */
export interface Use {
  noun: string;
  name: string;
  count: number;
}

/** How a record is deleted. */
interface Removal<Row extends Versioned> {
  lock: (database: Database, id: number) => Promise<Row | undefined>;
  unknown: () => Problem;
  /** of its kind, for the error */
  noun: string;
  /** what refers to it; empty if nothing does */
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

/** What refers to a record, by kind and name, for the error of its deletion. */
function namesOf(uses: readonly Use[]): string {
  const named = uses.map(({ noun: by, name, count }) =>
    count === 1
      ? `the ${by} ${JSON.stringify(name)}`
      : `${count} of kind ${by}, such as ${JSON.stringify(name)}`,
  );
  return named.join(' and ');
}

/** The fields of a change that were sent: those that are not undefined. */
export function sentFields<Fields extends object>(fields: Fields): Partial<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Fields>;
}
