import type pg from 'pg';
import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import type { Caller } from '../../../base/access/authentication.ts';
import type { Requester } from '../../../base/access/requester.ts';
import { idOf } from '../../../base/contract/schemas.ts';
import { current } from '../../../base/records/changes.ts';
import { maySeeCompanies } from '../../companies/access.ts';
import { findCompany } from '../../companies/record/store.ts';
import { changeDependent } from '../../products/dependents.ts';
import { findLabel, findLabelsById, touchLabels } from '../../products/labels/store.ts';
import { profileOf } from '../../products/partners/owner.ts';
import { findProduct, type Product } from '../../products/record/store.ts';
import { existingLabel, type LabelRead, readableLabelOnly, unknownLabel } from '../contents/read.ts';
import type { Chosen, ShownDocument } from './schemas.ts';
import { findShowing, findShown, setShown } from './store.ts';

/** The documents of a product's owner. */
async function documentsOf(database: Database, companyId: number | null): Promise<ShownDocument[]> {
  const company = companyId === null ? undefined : await findCompany(database, companyId);
  const profile = company && ((await profileOf(database, company)) as { documents?: ShownDocument[] });
  return profile?.documents ?? [];
}

/** The documents that a label shows, in order. */
async function shownBy(
  database: Database,
  labelId: number,
  { companyId }: Pick<Product, 'companyId'>,
): Promise<ShownDocument[]> {
  const ids = await findShown(database, labelId);
  if (ids.length === 0) return [];
  const documents = new Map((await documentsOf(database, companyId)).map(each => [each.id, each]));
  return ids.flatMap(id => documents.get(id) ?? []);
}

/**
 * The documents of the owner of a label's product, starting with those that the label shows, in their order; and the
 * version of the label.
 *
 * @throws Problem not_found
 */
export async function listDocuments(
  database: Database,
  caller: Caller,
  labelId: number,
): Promise<{ version: number; documents: object[] }> {
  const { label, product } = await readableLabelOnly(database, caller, labelId);
  const { companyId } = product;
  const shown = await shownBy(database, labelId, product);
  const maySee = companyId !== null && (await maySeeCompanies(database, caller, [companyId]));
  const all = maySee ? await documentsOf(database, companyId) : [];
  const active = new Set(shown.map(({ id }) => id));
  const documents = [
    ...shown.map(document => ({ ...document, active: true })),
    ...all.filter(({ id }) => !active.has(id)).map(document => ({ ...document, active: false })),
  ];
  return { version: label.version, documents };
}

/**
 * Chooses which documents of the owner a label shows.
 *
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function chooseDocuments(
  { pool }: { pool: pg.Pool },
  requester: Requester,
  labelId: number,
  chosen: Chosen,
): Promise<void> {
  const { productId } = await existingLabel(pool, labelId);
  const change = {
    pool,
    requester,
    productId,
    action: 'UPDATE_LABEL_DOCUMENTS' as const,
    unknown: unknownLabel,
  };
  await changeDependent(change, async (database, product) => {
    current(requester, await findLabel(database, labelId), unknownLabel);
    const before = await findShown(database, labelId);
    const after = checkedIds(chosen, await documentsOf(database, product.companyId));
    await setShown(database, labelId, after);
    const state = (documents: number[]) => ({ labels: { [labelId]: { documents } } });
    return {
      result: undefined,
      before: state(before),
      after: state(after),
      details: { labelId },
      next: () => touchLabels(database, [labelId]),
    };
  });
}

/** The ids of the chosen documents. */
function checkedIds(chosen: Chosen, documents: readonly ShownDocument[]): number[] {
  const byDocumentId = new Map(documents.map(document => [document.id, document]));
  const ids: number[] = [];
  let videos = 0;
  for (const [index, { id, active }] of chosen.entries()) {
    if (!active) continue;
    const document = id == null ? undefined : byDocumentId.get(idOf(id));
    if (!document) throw new Problem('label.no_document_of_owner', { field: `${index}.id` });
    if (ids.includes(document.id)) continue;
    if (document.category === 'VIDEO' && ++videos > 1)
      throw new Problem('label.second_video', { field: `${index}.active` });
    ids.push(document.id);
  }
  return ids;
}

/** The documents that a published label shows, as everyone sees them. */
export async function publicDocuments(database: Database, { label, product }: Omit<LabelRead, 'own'>) {
  const shown = await shownBy(database, label.id, product);
  const inCategory = (category: ShownDocument['category']) =>
    shown.filter(each => each.category === category);
  const video = inCategory('VIDEO').find(({ link }) => link);
  return {
    ...(video && { videoMeetTheFarmers: video }),
    photosMeetTheFarmers: inCategory('MEET_THE_FARMER'),
    productionRecords: inCategory('PRODUCTION_RECORD'),
  };
}

/** Whether a published label shows one of these companies' documents with this storage key. */
export async function isShownByLabel(
  database: Database,
  companyIds: readonly number[],
  storageKey: string,
): Promise<boolean> {
  for (const companyId of companyIds) {
    const ids = (await documentsOf(database, companyId))
      .filter(({ document }) => document?.storageKey?.toLowerCase() === storageKey.toLowerCase())
      .map(({ id }) => id);
    const labels = ids.length === 0 ? [] : await findLabelsById(database, await findShowing(database, ids));
    for (const { status, productId } of labels) {
      if (status === 'PUBLISHED' && (await findProduct(database, productId))?.companyId === companyId)
        return true;
    }
  }
  return false;
}
