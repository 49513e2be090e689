import type { Database } from '../platform/database/database.ts';
import { maySeeCompanies } from './catalogue/companies/access.ts';
import { isMemberOfOne } from './catalogue/companies/members/members-store.ts';
import { findLabelUses } from './catalogue/final-products/store.ts';
import {
  dropReferences,
  type Entity,
  type IsOwn,
  type IsPublic,
  type MayRead,
} from './catalogue/images/references-store.ts';
import { findBatchIds, findLabelIds } from './catalogue/labels/batches/store.ts';
import { findProductIds, isOnePublished, isPublicIn } from './catalogue/labels/contents/store.ts';
import { isShownCertificate } from './catalogue/labels/documents/certifications.ts';
import { isShownByLabel } from './catalogue/labels/documents/documents.ts';
import { type LabelDependents, saveLabels } from './catalogue/labels/record/label.ts';
import { findLabels } from './catalogue/labels/record/store.ts';
import { maySeeProducts, ownsProduct } from './catalogue/products/access.ts';
import type { LabelsOfProducts } from './catalogue/products/labels-of-products.ts';
import { isPublicEntry } from './public/knowledge-blog/knowledge-blog.ts';
import { findBlogProducts, findEntryIds } from './public/knowledge-blog/store.ts';

/*
 * Who may read an image or document, and who may use it again, by the records that refer to it; and the references that
 * go with a record.
 */

/** The products that records other than companies belong to. */
async function productsOf(
  database: Database,
  entity: Entity,
  ids: readonly number[],
): Promise<readonly number[]> {
  if (entity === 'knowledge_blog') return findBlogProducts(database, ids);
  if (entity === 'label') return findProductIds(database, ids);
  if (entity === 'label_batch') return findProductIds(database, await findLabelIds(database, ids));
  return ids;
}

/** Images may be added to further records if a record of the caller's own side has them. */
export const isOwn: IsOwn = async (database, caller, entity, ids) =>
  entity === 'company'
    ? isMemberOfOne(database, caller.id, ids)
    : ownsProduct(database, caller, await productsOf(database, entity, ids));

/** The images of a record are readable for everyone who may see the record. */
export const mayRead: MayRead = async (database, caller, entity, ids) =>
  entity === 'company'
    ? maySeeCompanies(database, caller, ids)
    : maySeeProducts(database, caller, await productsOf(database, entity, ids));

/** The images that published labels show, those of their batches, and documents of public knowledge blogs. */
export const isPublic: IsPublic = async (database, entity, ids, storageKey) => {
  if (entity === 'label') return isPublicIn(database, ids, storageKey);
  if (entity === 'knowledge_blog') return isPublicEntry(database, ids);
  if (entity === 'company') {
    return (await isShownByLabel(database, ids, storageKey)) || isShownCertificate(database, ids, storageKey);
  }
  return entity === 'label_batch' && isOnePublished(database, await findLabelIds(database, ids));
};

/** What uses labels, and the files that go with them. */
export const labelDependents: LabelDependents = {
  inUse: findLabelUses,
  async release(database, labelIds) {
    if (labelIds.length === 0) return;
    await dropReferences(database, 'label_batch', await findBatchIds(database, labelIds));
    await dropReferences(database, 'label', labelIds);
  },
};

/** What products do with their labels, and the files of other features that go with a product. */
export const labelsOfProducts: LabelsOfProducts = {
  find: findLabels,
  save: (database, ...words) => saveLabels(database, labelDependents, ...words),
  async release(database, productId, labelIds) {
    await labelDependents.release(database, labelIds);
    await dropReferences(database, 'knowledge_blog', await findEntryIds(database, productId));
  },
};
