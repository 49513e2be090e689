import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import type { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import type { AuditAction } from '../../base/audit/actions.ts';
import { audit } from '../../base/audit/audit.ts';
import { notFoundAs } from '../../base/records/changes.ts';
import { changeableProduct, unknownProduct } from './access.ts';
import { changesBetween } from './history/changes.ts';
import { insertChanges } from './history/changes-store.ts';
import { type Product, touchProduct } from './record/store.ts';

/** A change of a record that belongs to a product, such as a label or batch. */
interface Change {
  pool: pg.Pool;
  requester: Requester;
  productId: number;
  /** for the audit */
  action: AuditAction;
  /** the error for callers who may not see the product; by default `product.unknown` */
  unknown?: () => Problem;
}

/** The result of a change: the record's state before and after, for the history, and details for the audit. */
export interface Changed<Result> {
  result: Result;
  before: object;
  after: object;
  details: Record<string, unknown>;
  /** gives a record with its own versions the next version; returns the result with it */
  next?: () => Promise<Result>;
}

/**
 * Changes a record that belongs to a product, in a transaction that holds the product's row lock. Unless nothing changed,
 * the product gets a new version with its history and audit entry.
 *
 * @throws Problem not_found, forbidden
 */
export async function changeDependent<Result>(
  { pool, requester, productId, action, unknown = unknownProduct }: Change,
  work: (database: Database, product: Product) => Promise<Changed<Result>>,
): Promise<Result> {
  return transaction(pool, async database => {
    const product = await changeableProduct(database, requester.caller, productId).catch(notFoundAs(unknown));
    const { result, before, after, details, next } = await work(database, product);
    const changes = changesBetween(before, after);
    if (changes.length === 0) return result;
    const at = new Date();
    await touchProduct(database, productId, at);
    const revision = { productId, version: product.version + 1, at, userId: requester.caller.id };
    await insertChanges(database, revision, changes);
    await audit(database, requester, { action, entity: 'product', entityId: productId, details });
    return next ? next() : result;
  });
}
