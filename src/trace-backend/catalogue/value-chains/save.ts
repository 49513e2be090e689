import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Fault, fault } from '../../../platform/http/reasons/catalogue.ts';
import type { Requester } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { idOf } from '../../base/contract/schemas.ts';
import { current, removeRecord, saveRecord, type Use } from '../../base/records/changes.ts';
import { CODE_LISTS, type CodeList } from '../codes/lists.ts';
import { keepCodes } from '../codes/store.ts';
import { findCompanies } from './companies-store.ts';
import type { ValueChainBody } from './schemas.ts';
import {
  deleteValueChain,
  findLinks,
  insertValueChain,
  LINK_FIELDS,
  LINKS,
  type LinkField,
  type Links,
  lockValueChain,
  type Status,
  setLinks,
  updateValueChain,
  type ValueChain,
} from './store.ts';

export interface SavingContext {
  pool: pg.Pool;
  /** finds the records of other features, except companies, that refer to a value chain */
  findUses: (database: Database, valueChainId: number) => Promise<Use[]>;
  /** the names of companies */
  findCompanyNames: (database: Database, ids: readonly number[]) => Promise<{ name: string }[]>;
}

const NEW = {
  id: 0,
  name: '',
  description: null,
  status: 'ENABLED' as const,
  productTypeId: null,
  version: 1,
};
const NO_LINKS: Links = {
  facilityTypes: [],
  measureUnitTypes: [],
  processingEvidenceTypes: [],
  processingEvidenceFields: [],
  semiProducts: [],
};

/**
 * Stores a new value chain, or changes the one with the id of the body; omitted fields stay unchanged. A
 * REGIONAL_ADMIN may only add value chains; disabled ones do not change.
 *
 * @returns its id
 * @throws Problem forbidden, not_found, precondition_failed, invalid
 */
export async function saveValueChain(
  { pool }: SavingContext,
  requester: Requester,
  body: ValueChainBody,
): Promise<number> {
  const { caller } = requester;
  const id = body.id == null ? undefined : idOf(body.id);
  if (id !== undefined && caller.role !== 'SYSTEM_ADMIN') {
    throw new Problem('code.not_changeable', { noun: 'value chain' });
  }
  return saveRecord<ValueChain, { row: ValueChain; links: Links }>(pool, requester, id, {
    lock: async (database, chainId) =>
      chainId === undefined ? undefined : lockValueChain(database, chainId),
    unknown: unknownValueChain,
    async change(database, before) {
      if (before?.status === 'DISABLED') throw new Problem('value_chain.disabled');
      const row = rowAfter(before ?? NEW, body);
      const linksBefore = before ? await findLinks(database, before.id) : NO_LINKS;
      const links = linksAfter(linksBefore, body);
      await checkReferences(database, before ?? NEW, row, linksBefore, links);
      return { after: { row, links }, fields: changedFields(before ?? NEW, row, linksBefore, links) };
    },
    async store(database, before, { after: { row, links }, fields }, at) {
      const saved = before?.id ?? (await insertValueChain(database, row, { createdBy: caller.id, at }));
      if (before) await updateValueChain(database, row, at);
      for (const field of LINK_FIELDS) {
        if (fields.includes(field)) await setLinks(database, saved, field, links[field]);
      }
      return saved;
    },
    event: ({ row: { name } }, fields) => ({
      action: fields ? 'UPDATE_VALUE_CHAIN' : 'CREATE_VALUE_CHAIN',
      entity: 'value-chain',
      details: fields ? { fields } : { name },
    }),
  });
}

function rowAfter(before: ValueChain, { name, description, productType }: ValueChainBody): ValueChain {
  const after = {
    ...before,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description || null }),
    ...(productType !== undefined && {
      productTypeId: productType?.id == null ? null : idOf(productType.id),
    }),
  };
  if (after.name === '') throw new Problem('validation.required', { field: 'name' });
  return after;
}

/** The codes of each kind: those sent, each once, or the previous ones. */
function linksAfter(before: Links, body: ValueChainBody): Links {
  const each = LINK_FIELDS.map(field => {
    const sent = body[field];
    if (sent === undefined) return [field, before[field]];
    // 0 is never used as an id, so that a reference without an id is refused as unknown.
    return [field, (sent ?? []).map(({ id }) => (id == null ? 0 : idOf(id)))];
  });
  return Object.fromEntries(each) as Links;
}

/** Checks that all references exist, and locks their records until the end of the transaction. */
async function checkReferences(
  database: Database,
  before: ValueChain,
  { productTypeId }: ValueChain,
  linksBefore: Links,
  links: Links,
): Promise<void> {
  const faults: Fault[] = [];
  for (const field of LINK_FIELDS) {
    const ids = links[field];
    if (ids === linksBefore[field]) continue;
    const { list } = LINKS[field];
    const existing = await keepCodes(database, list, ids);
    for (const [index, id] of ids.entries()) {
      if (!existing.has(id)) faults.push(unknownRecord(`${field}.${index}.id`, list));
    }
    links[field] = [...new Set(ids)];
  }
  const types = CODE_LISTS.productTypes;
  if (productTypeId !== null && productTypeId !== before.productTypeId) {
    const existing = await keepCodes(database, types, [productTypeId]);
    if (!existing.has(productTypeId)) faults.push(unknownRecord('productType.id', types));
  }
  if (faults.length > 0) throw new Problem(faults);
}

function unknownRecord(field: string, { noun }: CodeList): Fault {
  return fault('validation.unknown_record', { field, noun });
}

function changedFields(before: ValueChain, after: ValueChain, linksBefore: Links, links: Links): string[] {
  const same = (field: LinkField) =>
    linksBefore[field].length === links[field].length &&
    linksBefore[field].every((id, index) => id === links[field][index]);
  const fields = (['name', 'description'] as const).filter(name => before[name] !== after[name]);
  const typeField = before.productTypeId === after.productTypeId ? [] : ['productType'];
  return [...fields, ...typeField, ...LINK_FIELDS.filter(field => !same(field))];
}

/**
 * Enables or disables a value chain. It succeeds without a change if it is already in that state.
 *
 * @throws Problem not_found, precondition_failed
 */
export async function switchValueChain(
  { pool }: SavingContext,
  requester: Requester,
  id: number,
  status: Status,
): Promise<void> {
  await transaction(pool, async database => {
    const before = current(requester, await lockValueChain(database, id), unknownValueChain);
    if (before.status === status) return;
    await updateValueChain(database, { ...before, status }, new Date());
    const action = `${status === 'ENABLED' ? 'ENABLE' : 'DISABLE'}_VALUE_CHAIN` as const;
    await audit(database, requester, { action, entity: 'value-chain', entityId: id });
  });
}

/**
 * Deletes a value chain that no company and no other record refers to.
 *
 * @throws Problem not_found, precondition_failed; invalid, with the names of records that refer to it
 */
export async function removeValueChain(
  { pool, findUses, findCompanyNames }: SavingContext,
  requester: Requester,
  id: number,
): Promise<void> {
  await removeRecord<ValueChain>(pool, requester, id, {
    lock: lockValueChain,
    unknown: unknownValueChain,
    noun: 'value chain',
    async findUses(database) {
      const companies = await findCompanies(database, id);
      const [company] = companies ? await findCompanyNames(database, [companies.companyId]) : [];
      const companyUses =
        companies && company ? [{ noun: 'company', name: company.name, count: companies.count }] : [];
      return [...companyUses, ...(await findUses(database, id))];
    },
    remove: deleteValueChain,
    event: ({ name }) => ({ action: 'DELETE_VALUE_CHAIN', entity: 'value-chain', details: { name } }),
  });
}

export function unknownValueChain(): Problem {
  return new Problem('value_chain.unknown');
}
