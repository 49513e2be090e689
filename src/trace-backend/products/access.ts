import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import type { Caller } from '../access/authentication.ts';
import { findMemberships } from '../companies/members-store.ts';
import { findProduct, lockProduct, ownsOne, type Product, type Reader, seesOne } from './store.ts';

/*
 * Who may read a product: members of its owner and of the companies associated with it, its creator where it has no
 * owner, and administrators. Who may change it: members of its owner, its creator where it has none, and a
 * SYSTEM_ADMIN. To everybody else it does not exist.
 */

/** What a user may see depends on; undefined for administrators, who see every product. */
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
  return reader === undefined || seesOne(database, reader, ids);
}

/** Whether at least one of these products is of a company that the caller acts for, or the caller's alone. */
export async function ownsProduct(
  database: Database,
  { id }: Caller,
  ids: readonly number[],
): Promise<boolean> {
  const memberships = await findMemberships(database, id);
  const companyIds = memberships.map(({ companyId }) => companyId);
  return ownsOne(database, { userId: id, companyIds }, ids);
}

/**
 * A product for somebody who reads it.
 *
 * @throws Problem not_found, also when it is not for them
 */
export async function readableProduct(database: Database, caller: Caller, id: number): Promise<Product> {
  const [product, reader] = await Promise.all([findProduct(database, id), readerOf(database, caller)]);
  if (!product || !mayRead(product, reader)) throw unknownProduct();
  return product;
}

/**
 * A product for somebody who changes it: nobody else does until the end of the transaction.
 *
 * @throws Problem not_found; forbidden for those who may only read it
 */
export async function changeableProduct(database: Database, caller: Caller, id: number): Promise<Product> {
  const product = await lockProduct(database, id);
  if (product && caller.role === 'SYSTEM_ADMIN') return product;
  const reader = await readerOf(database, caller);
  if (!product || !mayRead(product, reader)) throw unknownProduct();
  if (!(await mayChange(database, caller, product))) {
    throw new Problem('forbidden', 'the product is changed by the members of the company that owns it');
  }
  return product;
}

/**
 * A product for somebody who takes a company off it: nobody else changes it until the end of the transaction.
 *
 * @throws Problem not_found; forbidden for those who neither act for the company nor may change the product
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
  throw new Problem('forbidden', 'a company is taken off a product by those who act for it');
}

/** Whether somebody may change a product, and so read how it came to be. */
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
  return new Problem('not_found', 'there is no such product');
}
