import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import { checkVersion } from '../../base/contract/versions.ts';
import type { Lists } from '../../base/lists/lists.ts';
import type { RecordKinds } from '../../base/records/kinds.ts';
import { dropReferences, setReferences } from '../images/references-store.ts';
import { changeableProduct, leavableProduct } from './access.ts';
import { changesBetween } from './history/changes.ts';
import { insertChanges } from './history/changes-store.ts';
import { byId, saveLabels } from './labels/label.ts';
import { findLabels, type Label } from './labels/store.ts';
import { checkLocations } from './origin/origin.ts';
import { associationsOf, ownerOf } from './partners/companies.ts';
import { actsFor, checkReturns } from './partners/departures.ts';
import { insertDeparture } from './partners/departures-store.ts';
import { imagesOf, mergeContent } from './record/content.ts';
import { checkPrices } from './record/prices.ts';
import type { ProductBody } from './record/schemas.ts';
import {
  type Content,
  deleteProduct,
  insertProduct,
  type Product,
  setAssociations,
  touchProduct,
  updateProduct,
} from './record/store.ts';
import { valueChainOf } from './value-chain.ts';

export interface ProductsContext {
  pool: pg.Pool;
  lists: Lists;
  records: RecordKinds;
}

/**
 * Stores a new product.
 *
 * @returns its id
 * @throws Problem invalid
 */
export async function createProduct(
  { pool, records }: ProductsContext,
  requester: Requester,
  body: ProductBody & { name: string },
): Promise<number> {
  const caller = requester.caller;
  checkPrices(body);
  const content = mergeContent({}, body);
  checkLocations(content);
  return transaction(pool, async database => {
    const companyId = await ownerOf(database, caller, body.company);
    const valueChainId = await valueChainOf(database, body.valueChain, null);
    const none = { ownerId: null, associations: [] };
    const associations = await associationsOf(database, body.associatedCompanies, companyId, none);
    const at = new Date();
    const created = {
      name: body.name,
      companyId,
      valueChainId,
      content,
      createdBy: caller.id,
      createdAt: at,
    };
    const id = await insertProduct(database, created);
    await setAssociations(database, id, associations);
    const images = imagesOf(content);
    if (images.length > 0) {
      await setReferences(database, { caller, records }, { entity: 'product', entityId: id }, images);
    }
    if (body.labels != null) await saveLabels(database, records, id, body.labels, []);
    await insertChanges(database, { productId: id, version: 1, at, userId: caller.id }, [{ path: '' }]);
    const details = { name: body.name, companyId };
    await audit(database, requester, { action: 'CREATE_PRODUCT', entity: 'product', entityId: id, details });
    return id;
  });
}

/**
 * Changes a product; omitted fields stay unchanged. A change without effect creates no version.
 *
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function changeProduct(
  { pool, records }: ProductsContext,
  requester: Requester,
  id: number,
  body: ProductBody,
): Promise<void> {
  const caller = requester.caller;
  checkPrices(body);
  await transaction(pool, async database => {
    const before = await changeableProduct(database, caller, id);
    checkVersion(requester.ifMatch, before.version);
    const content = mergeContent(before.content, body);
    if (body.origin !== undefined) checkLocations(content);
    const companyId = body.company?.id == null ? before.companyId : await ownerAfter(database, before);
    const previous = { ownerId: before.companyId, associations: before.associations };
    const sent = body.associatedCompanies;
    const associations = await associationsOf(database, sent, companyId, previous);
    await checkReturns(database, caller, before, { after: associations, sent });
    const labels = await findLabels(database, id);
    const labelsAfter =
      body.labels === undefined ? labels : await saveLabels(database, records, id, body.labels, labels);
    const valueChainId = await valueChainOf(database, body.valueChain, before.valueChainId);
    const name = body.name ?? before.name;
    const after = { ...before, name, companyId, valueChainId, content, associations };

    const changes = changesBetween(snapshot(before, labels), snapshot(after, labelsAfter));
    if (changes.length === 0) return;
    const at = new Date();
    await updateProduct(database, { ...after, updatedAt: at });
    await setAssociations(database, id, associations);
    const record = { entity: 'product', entityId: id } as const;
    await setReferences(database, { caller, records }, record, imagesOf(content));
    const revision = { productId: id, version: before.version + 1, at, userId: caller.id };
    await insertChanges(database, revision, changes);
    const details = { fields: [...new Set(changes.map(({ path }) => path.split('.')[0]))] };
    await audit(database, requester, { action: 'UPDATE_PRODUCT', entity: 'product', entityId: id, details });
  });

  /** The owner after the change. Everyone may send the current owner back. */
  async function ownerAfter(database: Database, before: Product): Promise<number | null> {
    const isSame = Number(body.company?.id) === before.companyId;
    return isSame ? before.companyId : ownerOf(database, caller, body.company);
  }
}

/**
 * Deletes a product with its labels. Its history is kept.
 *
 * @throws Problem not_found, forbidden, precondition_failed
 */
export async function removeProduct(
  { pool, records }: ProductsContext,
  requester: Requester,
  id: number,
): Promise<void> {
  const caller = requester.caller;
  await transaction(pool, async database => {
    const product = await changeableProduct(database, caller, id);
    checkVersion(requester.ifMatch, product.version);
    const labels = await findLabels(database, id);
    const before = snapshot(product, labels);
    await dropReferences(database, records, 'product', [id]);
    await deleteProduct(database, id);
    const revision = { productId: id, version: product.version + 1, at: new Date(), userId: caller.id };
    await insertChanges(database, revision, [{ path: '', before }]);
    const details = { name: product.name, companyId: product.companyId };
    await audit(database, requester, { action: 'DELETE_PRODUCT', entity: 'product', entityId: id, details });
  });
}

/**
 * Removes an associated company from a product, with all its roles; for its members and for users who may change the
 * product. One that a member removes comes back only with their consent.
 *
 * @throws Problem not_found, also for a company that is not associated; forbidden; invalid for the owner
 */
export async function leaveProduct(
  { pool }: ProductsContext,
  requester: Requester,
  id: number,
  companyId: number,
): Promise<void> {
  const caller = requester.caller;
  await transaction(pool, async database => {
    const product = await leavableProduct(database, caller, id, companyId);
    if (!product.associations.some(association => association.companyId === companyId)) {
      throw new Problem('product.company_not_associated');
    }
    if (companyId === product.companyId) throw new Problem('product.owner_cannot_be_removed');
    const associations = product.associations.filter(association => association.companyId !== companyId);
    const labels = await findLabels(database, id);
    const changes = changesBetween(snapshot(product, labels), snapshot({ ...product, associations }, labels));
    const at = new Date();
    await touchProduct(database, id, at);
    await setAssociations(database, id, associations);
    if (await actsFor(database, caller, companyId)) await insertDeparture(database, id, companyId, at);
    const revision = { productId: id, version: product.version + 1, at, userId: caller.id };
    await insertChanges(database, revision, changes);
    const event: AuditEvent = {
      action: 'LEAVE_PRODUCT',
      entity: 'product',
      entityId: id,
      details: { companyId },
    };
    await audit(database, requester, event);
  });
}

/** A product in the form that its history compares. */
function snapshot(
  {
    name,
    companyId,
    valueChainId,
    content,
    associations,
  }: Pick<Product, 'name' | 'companyId' | 'valueChainId' | 'content' | 'associations'>,
  labels: readonly Label[],
): Content {
  return {
    ...content,
    name,
    ...(companyId !== null && { company: { id: companyId } }),
    ...(valueChainId !== null && { valueChain: { id: valueChainId } }),
    associatedCompanies: associations.map(({ companyId: id, type }) => ({ company: { id }, type })),
    labels: byId(labels),
  };
}
