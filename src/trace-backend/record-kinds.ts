import type { Database } from '../platform/database/database.ts';
import type { RecordKind, RecordKinds } from './base/records/kinds.ts';
import { maySeeCompanies } from './catalogue/companies/access.ts';
import { isMemberOfAny } from './catalogue/companies/members/members-store.ts';
import { findLabelUses } from './catalogue/final-products/store.ts';
import { findBatchIds, findLabelIds } from './catalogue/labels/batches/store.ts';
import { findProductIds, isAnyPublished, isPublicIn } from './catalogue/labels/contents/store.ts';
import { isShownCertificate } from './catalogue/labels/documents/certifications.ts';
import { isShownByLabel } from './catalogue/labels/documents/documents.ts';
import { maySeeProducts, ownsProduct } from './catalogue/products/access.ts';
import { findLabelIdsOf } from './catalogue/products/labels/store.ts';
import { isPublicEntry } from './public/knowledge-blog/knowledge-blog.ts';
import { findBlogProducts, findEntryIds } from './public/knowledge-blog/store.ts';

/** A kind of record that belongs to products, with their readers and owners. */
function productRecords(
  productsOf: (database: Database, ids: readonly number[]) => Promise<readonly number[]>,
): Pick<RecordKind, 'mayRead' | 'isOwn' | 'findUses' | 'parts'> {
  return {
    mayRead: async (database, caller, ids) =>
      maySeeProducts(database, caller, await productsOf(database, ids)),
    isOwn: async (database, caller, ids) => ownsProduct(database, caller, await productsOf(database, ids)),
    findUses: async () => [],
    parts: {},
  };
}

/** All kinds of records. */
export const recordKinds: RecordKinds = {
  company: {
    mayRead: maySeeCompanies,
    isOwn: (database, caller, ids) => isMemberOfAny(database, caller.id, ids),
    isPublic: async (database, ids, storageKey) =>
      (await isShownByLabel(database, ids, storageKey)) || isShownCertificate(database, ids, storageKey),
    // Companies are deactivated, never deleted.
    findUses: async () => [],
    parts: {},
  },
  product: {
    ...productRecords(async (_database, ids) => ids),
    isPublic: async () => false,
    parts: { label: findLabelIdsOf, knowledge_blog: findEntryIds },
  },
  label: {
    ...productRecords(findProductIds),
    isPublic: isPublicIn,
    findUses: findLabelUses,
    parts: { label_batch: findBatchIds },
  },
  label_batch: {
    ...productRecords(async (database, ids) => findProductIds(database, await findLabelIds(database, ids))),
    isPublic: async (database, ids) => isAnyPublished(database, await findLabelIds(database, ids)),
  },
  knowledge_blog: { ...productRecords(findBlogProducts), isPublic: isPublicEntry },
};
