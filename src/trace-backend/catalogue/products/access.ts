import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller } from '../../base/access/authentication.ts';
import { findMemberships } from '../companies/members/members-store.ts';
import { findProduct, lockProduct, ownsAny, type Product, type Reader, seesAny } from './record/store.ts';

/*
 * A product can be read by members of its owner and of associated companies, by its creator if it has no owner, and
 * by administrators. It can be changed by members of its owner, by its creator if it has none, and by a SYSTEM_ADMIN.
 * Everyone else gets the error of an unknown product.
 */

/** The user and their companies, on which access depends; undefined for administrators, who see every product. */
export async function readerOf(database: Database, { id, role }: Caller): Promise<Reader | undefined> {
  if (role !== 'USER') return undefined;
  const memberships = await findMemberships(database, id);
  return { userId: id, companyIds: memberships.map(({ companyId }) => companyId) };
}

/** Whether the caller may see at least one of these products. */
export async function maySeeProducts(
  database: Database,
  caller: Caller,
  ids: readonly number[],
): Promise<boolean> {
  const reader = await readerOf(database, caller);
  return reader === undefined || seesAny(database, reader, ids);
}

/** Whether at least one of these products belongs to a company of the caller, or to the caller alone. */
export async function ownsProduct(
  database: Database,
  { id }: Caller,
  ids: readonly number[],
): Promise<boolean> {
  const memberships = await findMemberships(database, id);
  const companyIds = memberships.map(({ companyId }) => companyId);
  return ownsAny(database, { userId: id, companyIds }, ids);
}

/**
 * A product for a reader.
 *
 * @throws Problem not_found, also for callers who may not see it
 */
export async function readableProduct(database: Database, caller: Caller, id: number): Promise<Product> {
  const [product, reader] = await Promise.all([findProduct(database, id), readerOf(database, caller)]);
  if (!product || !mayRead(product, reader)) throw unknownProduct();
  return product;
}

/**
 * A product for a change, locked until the end of the transaction.
 *
 * @throws Problem not_found; forbidden for those who may only read it
 */
export async function changeableProduct(database: Database, caller: Caller, id: number): Promise<Product> {
  const product = await lockProduct(database, id);
  if (product && caller.role === 'SYSTEM_ADMIN') return product;
  const reader = await readerOf(database, caller);
  if (!product || !mayRead(product, reader)) throw unknownProduct();
  if (!(await mayChange(database, caller, product))) {
    throw new Problem('product.only_owner_changes');
  }
  return product;
}

/**
 * A product for the removal of an associated company, locked until the end of the transaction.
 *
 * @throws Problem not_found; forbidden for users who are neither members of the company nor may change the product
 */
export async function leavableProduct(
  database: Database,
  caller: Caller,
  id: number,
  companyId: number,
): Promise<Product> {
  const product = await lockProduct(database, id);
  const reader = await readerOf(database, caller);
  if (!product || !mayRead(product, reader)) throw unknownProduct();
  if (reader?.companyIds.includes(companyId) || (await mayChange(database, caller, product))) return product;
  throw new Problem('product.only_members_remove_company');
}

/** Whether a user may change a product, and therefore read its history. */
export async function mayChange(
  database: Database,
  { id, role }: Caller,
  { companyId, createdBy }: Pick<Product, 'companyId' | 'createdBy'>,
): Promise<boolean> {
  if (role === 'SYSTEM_ADMIN') return true;
  if (companyId === null) return createdBy === id;
  const memberships = await findMemberships(database, id);
  return memberships.some(membership => membership.companyId === companyId);
}

function mayRead({ companyId, createdBy, associations }: Product, reader: Reader | undefined): boolean {
  if (reader === undefined) return true;
  const { userId, companyIds } = reader;
  if (companyId === null && createdBy === userId) return true;
  return associations.some(association => companyIds.includes(association.companyId));
}

export function unknownProduct(): Problem {
  return new Problem('product.unknown');
}
