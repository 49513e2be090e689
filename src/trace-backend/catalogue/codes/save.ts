import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import type { CodeWord } from '../../base/audit/actions.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import { idOf } from '../../base/contract/schemas.ts';
import { checkVersion } from '../../base/contract/versions.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { CODE_LISTS, type CodeList, entityOf } from './lists.ts';
import { type CodeBody, type CodeContent, changedFields, contentAfter } from './merge.ts';
import {
  deleteCode,
  findCode,
  findRoom,
  findUnitUses,
  insertCode,
  isBasedOn,
  keepCodes,
  lockCode,
  lockList,
  updateCode,
} from './store.ts';

/** Codes of one list, at most. */
export const MAX_CODES = 10_000;

/** Records that refer to a code: their kind, the name of one of them, and how many there are. */
export interface Use {
  noun: string;
  name: string;
  count: number;
}

/** Finds the records of other features that refer to a code; empty if there are none. */
export type FindUses = (database: Database, list: CodeList, id: number) => Promise<Use[]>;

export interface CodesContext {
  pool: pg.Pool;
  lists: Lists;
  findUses: FindUses;
}

/**
 * Stores a new code, or changes the one with the id of the body; omitted fields stay unchanged. A REGIONAL_ADMIN may
 * only add codes.
 *
 * @returns its id
 * @throws Problem forbidden, not_found, precondition_failed, invalid
 */
export async function saveCode(
  { pool }: CodesContext,
  requester: Requester,
  list: CodeList,
  body: CodeBody,
): Promise<number> {
  const { caller } = requester;
  const id = body.id == null ? undefined : idOf(body.id);
  if (id !== undefined && caller.role !== 'SYSTEM_ADMIN') {
    throw new Problem('code.not_changeable', { noun: list.noun });
  }
  return transaction(pool, async database => {
    await lockList(database, list);
    const before = id === undefined ? undefined : await findCode(database, list, id);
    if (id !== undefined && !before) throw unknownCode(list);
    if (before) checkVersion(requester.ifMatch, before.version);
    const after = contentAfter(list, before, body);
    const fields = before ? changedFields(list, before, after) : [];
    if (before && fields.length === 0) return before.id;
    await checkRoom(database, list, after, before?.id);
    if (after.unitId !== (before?.unitId ?? null)) await checkUnit(database, list, after.unitId, before?.id);
    const at = new Date();
    const saved = before?.id ?? (await insertCode(database, list, after, { createdBy: caller.id, at }));
    if (before) await updateCode(database, list, saved, after, at);
    const entity = entityOf(list);
    const action = `${before ? 'UPDATE' : 'CREATE'}_${wordOf(list)}` as const;
    const details = before ? { fields } : { [list.title]: after.fields[list.title] };
    await audit(database, requester, { action, entity, entityId: saved, details });
    return saved;
  });
}

/**
 * Deletes a code that nothing refers to.
 *
 * @throws Problem not_found, precondition_failed; invalid, with the names of what refers to it
 */
export async function removeCode(
  { pool, findUses }: CodesContext,
  requester: Requester,
  list: CodeList,
  id: number,
): Promise<void> {
  await transaction(pool, async database => {
    const code = await lockCode(database, list, id);
    if (!code) throw unknownCode(list);
    checkVersion(requester.ifMatch, code.version);
    const own = list === CODE_LISTS.measureUnitTypes ? await findUnitUses(database, id) : [];
    const uses = [...own, ...(await findUses(database, list, id))];
    if (uses.length > 0) throw new Problem('code.in_use', { noun: list.noun, uses: namesOf(uses) });
    await deleteCode(database, list, id);
    const details = { [list.title]: code.fields[list.title] };
    const event: AuditEvent = {
      action: `DELETE_${wordOf(list)}`,
      entity: entityOf(list),
      entityId: id,
      details,
    };
    await audit(database, requester, event);
  });
}

/** What refers to a record, by kind and name, for the error of its deletion. */
export function namesOf(uses: readonly Use[]): string {
  const named = uses.map(({ noun: by, name, count }) =>
    count === 1
      ? `the ${by} ${JSON.stringify(name)}`
      : `${count} of kind ${by}, such as ${JSON.stringify(name)}`,
  );
  return named.join(' and ');
}

export function unknownCode({ noun }: CodeList): Problem {
  return new Problem('code.unknown', { noun });
}

function wordOf({ noun }: CodeList): CodeWord {
  return noun.toUpperCase().replaceAll(/\W/g, '_') as CodeWord;
}

async function checkRoom(
  database: Database,
  list: CodeList,
  { fields }: CodeContent,
  ownId: number | undefined,
): Promise<void> {
  const value = list.key && fields[list.key];
  const { count, isTaken } = await findRoom(database, list, value, ownId);
  if (list.key && isTaken) {
    const { key, noun } = list;
    throw new Problem('code.key_taken', { field: key, value: JSON.stringify(value), noun });
  }
  if (ownId === undefined && count >= MAX_CODES) {
    throw new Problem('code.too_many', { max: MAX_CODES.toLocaleString('en') });
  }
}

async function checkUnit(
  database: Database,
  list: CodeList,
  unitId: number | null,
  ownId: number | undefined,
): Promise<void> {
  if (unitId === null || !list.unit) return;
  const units = CODE_LISTS.measureUnitTypes;
  const field = `${list.unit.field}.id`;
  const isKnown = (await keepCodes(database, units, [unitId])).has(unitId);
  const isCircle = list === units && ownId !== undefined && (await isBasedOn(database, unitId, ownId));
  if (!isKnown) throw new Problem('validation.unknown_record', { field, noun: units.noun });
  if (isCircle) throw new Problem('code.unit_based_on_it', { field });
}
