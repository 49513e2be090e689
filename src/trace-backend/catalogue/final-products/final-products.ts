import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import type { Language } from '../../base/contract/language.ts';
import { idOf } from '../../base/contract/schemas.ts';
import { current } from '../../base/records/changes.ts';
import { CODE_LISTS } from '../codes/lists.ts';
import { findCodes, keepCodes } from '../codes/store.ts';
import { asCodes } from '../codes/view.ts';
import { changeDependent } from '../products/dependents.ts';
import { asBase } from '../products/labels/label.ts';
import { findLabels, findLabelsById } from '../products/labels/store.ts';
import { findProductBases, type Product } from '../products/record/store.ts';
import type { FinalProductBody } from './schemas.ts';
import {
  countFinalProducts,
  deleteFinalProduct,
  type FinalProduct,
  findFinalProduct,
  storeFinalProduct,
  touchFinalProduct,
} from './store.ts';

/** Maximum final products per product. */
const MAX_FINAL_PRODUCTS = 1000;

/**
 * Adds a final product to a product, or changes one.
 *
 * @returns its id
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function saveFinalProduct(
  pool: pg.Pool,
  requester: Requester,
  productId: number,
  body: FinalProductBody,
): Promise<number> {
  const id = body.id == null ? undefined : idOf(body.id);
  const action = id === undefined ? 'CREATE_FINAL_PRODUCT' : 'UPDATE_FINAL_PRODUCT';
  return changeDependent({ pool, requester, productId, action }, async database => {
    const before = id === undefined ? undefined : await changeable(database, requester, productId, id);
    if (!before && (await countFinalProducts(database, productId)) >= MAX_FINAL_PRODUCTS) {
      throw new Problem('final_product.too_many', { max: MAX_FINAL_PRODUCTS });
    }
    const after = finalProductAfter(before ?? emptyOf(productId), body);
    await check(database, after, before);
    const saved = { ...after, id: await storeFinalProduct(database, after, new Date()) };
    const next = () => touchFinalProduct(database, saved.id).then(() => saved.id);
    return { ...history(before, saved), result: saved.id, ...(before && { next }) };
  });
}

/** @throws Problem not_found, forbidden, precondition_failed */
export async function removeFinalProduct(
  pool: pg.Pool,
  requester: Requester,
  productId: number,
  id: number,
): Promise<void> {
  const change = { pool, requester, productId, action: 'DELETE_FINAL_PRODUCT' as const };
  await changeDependent(change, async database => {
    const before = await changeable(database, requester, productId, id);
    await deleteFinalProduct(database, id);
    return { ...history(before, undefined), result: undefined };
  });
}

function emptyOf(productId: number): FinalProduct {
  return { id: 0, productId, name: '', description: null, unitId: null, labelIds: [], version: 1 };
}

function finalProductAfter(
  before: FinalProduct,
  { name, description, measurementUnitType: unit, labels }: FinalProductBody,
): FinalProduct {
  return {
    ...before,
    name,
    ...(description !== undefined && { description }),
    ...(unit !== undefined && { unitId: unit?.id == null ? null : idOf(unit.id) }),
    ...(labels !== undefined && { labelIds: [...new Set(labels?.map(({ id }) => idOf(id)))] }),
  };
}

/** @throws Problem invalid for an unknown unit, and for labels that are not the product's */
async function check(
  database: Database,
  { productId, unitId, labelIds }: FinalProduct,
  before: FinalProduct | undefined,
): Promise<void> {
  if (unitId !== null && unitId !== before?.unitId) {
    const units = CODE_LISTS.measureUnitTypes;
    const [unit] = await keepCodes(database, units, [unitId]);
    const field = 'measurementUnitType.id';
    if (!unit) throw new Problem('validation.unknown_record', { field, noun: units.noun });
  }
  const ownLabelIds = new Set((await findLabels(database, productId)).map(({ id }) => id));
  const foreign = labelIds.findIndex(id => !ownLabelIds.has(id));
  if (foreign >= 0) throw new Problem('label.of_other_product', { field: `labels.${foreign}.id` });
}

function history(before: FinalProduct | undefined, after: FinalProduct | undefined) {
  const { id, name } = (after ?? before) as FinalProduct;
  const state = (each: FinalProduct | undefined) => ({
    finalProducts: { [id]: each && { ...each, version: undefined } },
  });
  return { before: state(before), after: state(after), details: { finalProductId: id, name } };
}

async function changeable(database: Database, requester: Requester, productId: number, id: number) {
  return current(requester, await findOfProduct(database, productId, id), unknownFinalProduct);
}

/**
 * A final product of a product.
 *
 * @throws Problem not_found
 */
export async function findOfProduct(
  database: Database,
  productId: number,
  id: number,
): Promise<FinalProduct> {
  const found = await findFinalProduct(database, id);
  if (found?.productId === productId) return found;
  throw unknownFinalProduct();
}

function unknownFinalProduct(): Problem {
  return new Problem('final_product.unknown');
}

/**
 * A final product as in answers.
 *
 * @throws Problem not_found if its product has been deleted meanwhile
 */
export async function asFinalProduct(
  database: Database,
  finalProduct: FinalProduct,
  language: Language,
): Promise<object> {
  const [answer] = await asFinalProducts(database, [finalProduct], language);
  if (!answer) throw unknownFinalProduct();
  return answer;
}

/** Final products as in answers, in order; without those whose product has been deleted meanwhile. */
export async function asFinalProducts(
  database: Database,
  finalProducts: readonly FinalProduct[],
  language: Language,
): Promise<object[]> {
  const { measureUnitTypes } = CODE_LISTS;
  const unitIds = [...new Set(finalProducts.flatMap(({ unitId }) => unitId ?? []))];
  const [products, labels, units] = await Promise.all([
    findProductBases(database, [...new Set(finalProducts.map(({ productId }) => productId))]),
    findLabelsById(
      database,
      finalProducts.flatMap(({ labelIds }) => labelIds),
    ),
    findCodes(database, measureUnitTypes, unitIds).then(found =>
      asCodes(database, measureUnitTypes, found, language, false),
    ),
  ]);
  const byId = new Map(labels.map(label => [label.id, label]));
  return finalProducts.flatMap(({ id, productId, name, description, unitId, labelIds }) => {
    const product = products.find(each => each.id === productId);
    if (!product) return [];
    const unit = units.find(each => each.id === unitId);
    return {
      id,
      name,
      ...(description !== null && { description }),
      product: asBaseProduct(product),
      ...(unit && { measurementUnitType: unit }),
      labels: labelIds.flatMap(labelId => {
        const label = byId.get(labelId);
        return label ? [asBase(label)] : [];
      }),
    };
  });
}

function asBaseProduct({ id, name, content }: Pick<Product, 'id' | 'name' | 'content'>): object {
  const { description, origin } = content;
  return { id, name, ...(description != null && { description }), origin: origin ?? {} };
}
