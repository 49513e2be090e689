import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import type { CodeWord } from '../../base/audit/actions.ts';
import { idOf } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { removeRecord, saveRecord, type Use } from '../../base/records/changes.ts';
import { CODE_LISTS, type CodeList, entityOf } from './lists.ts';
import { type CodeBody, type CodeContent, changedFields, contentAfter } from './merge.ts';
import {
  type Code,
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

/** Maximum codes per list. */
export const MAX_CODES = 10_000;

/** Finds the records of other features that refer to a code; empty if there are none. */
type FindUses = (database: Database, list: CodeList, id: number) => Promise<Use[]>;

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
  return saveRecord<Code, CodeContent>(pool, requester, id, {
    async lock(database, codeId) {
      await lockList(database, list);
      return codeId === undefined ? undefined : findCode(database, list, codeId);
    },
    unknown: () => unknownCode(list),
    async change(database, before) {
      const after = contentAfter(list, before, body);
      const fields = before ? changedFields(list, before, after) : [];
      if (before && fields.length === 0) return { after, fields };
      await checkRoom(database, list, after, before?.id);
      if (after.unitId !== (before?.unitId ?? null))
        await checkUnit(database, list, after.unitId, before?.id);
      return { after, fields };
    },
    async store(database, before, { after }, at) {
      if (!before) return insertCode(database, list, after, { createdBy: caller.id, at });
      await updateCode(database, list, before, after, at);
      return before.id;
    },
    event: (after, fields) => ({
      action: `${fields ? 'UPDATE' : 'CREATE'}_${wordOf(list)}`,
      entity: entityOf(list),
      details: fields ? { fields } : { [list.title]: after.fields[list.title] },
    }),
  });
}

/**
 * Deletes a code that nothing refers to.
 *
 * @throws Problem not_found, precondition_failed; invalid, with the names of records that refer to it
 */
export async function removeCode(
  { pool, findUses }: CodesContext,
  requester: Requester,
  list: CodeList,
  id: number,
): Promise<void> {
  await removeRecord<Code>(pool, requester, id, {
    lock: database => lockCode(database, list, id),
    unknown: () => unknownCode(list),
    noun: list.noun,
    async findUses(database) {
      const own = list === CODE_LISTS.measureUnitTypes ? await findUnitUses(database, id) : [];
      return [...own, ...(await findUses(database, list, id))];
    },
    remove: database => deleteCode(database, list, id),
    event: ({ fields }) => ({
      action: `DELETE_${wordOf(list)}`,
      entity: entityOf(list),
      details: { [list.title]: fields[list.title] },
    }),
  });
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
  const exists = (await keepCodes(database, units, [unitId])).has(unitId);
  const isCircular = list === units && ownId !== undefined && (await isBasedOn(database, unitId, ownId));
  if (!exists) throw new Problem('validation.unknown_record', { field, noun: units.noun });
  if (isCircular) throw new Problem('code.unit_based_on_it', { field });
}
