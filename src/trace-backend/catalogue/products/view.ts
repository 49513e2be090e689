import type { Database } from '../../../platform/database/database.ts';
import type { Caller } from '../../base/access/authentication.ts';
import type { Language } from '../../base/contract/language.ts';
import { findCompanyNames } from '../companies/members/members-store.ts';
import { type DescribedImage, findImages } from '../images/store.ts';
import { briefValueChains } from '../value-chains/view.ts';
import { asLabel } from './labels/label.ts';
import { findLabels } from './labels/store.ts';
import { wholeOwner } from './partners/owner.ts';
import { imagesOf, type SentDocument, withDefaults, withDocuments } from './record/content.ts';
import type { ListedProduct, Product } from './record/store.ts';

/** A product as in answers to a caller who may see it. */
export async function asProduct(
  database: Database,
  caller: Caller,
  product: Product,
  language: Language,
): Promise<object> {
  const { id, name, companyId, valueChainId, content, associations, createdAt, updatedAt } = product;
  const keys = imagesOf(content).map(({ storageKey }) => storageKey);
  const [names, images, labels, owner, [valueChain = {}]] = await Promise.all([
    companyNames(database, [companyId, ...associations.map(each => each.companyId)]),
    findImages(database, keys),
    findLabels(database, id),
    wholeOwner(database, caller, companyId, language),
    valueChainId === null ? [] : briefValueChains(database, [valueChainId], language),
  ]);
  return {
    ...withDefaults(withDocuments(content, sent => describedDocument(sent, images))),
    id,
    name,
    ...(companyId !== null && { company: owner ?? names.get(companyId) }),
    valueChain,
    associatedCompanies: associations.map(each => ({ company: names.get(each.companyId), type: each.type })),
    labels: labels.map(asLabel),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Products as in lists, in order. */
export async function asItems(database: Database, products: readonly ListedProduct[]) {
  const [names, photos] = await Promise.all([
    companyNames(
      database,
      products.map(({ companyId }) => companyId),
    ),
    findImages(
      database,
      products.map(({ photoKey }) => photoKey).filter(key => key !== null),
    ),
  ]);
  const images = new Map(photos.map(photo => [photo.storageKey, photo]));
  return products.map(({ id, name, companyId, photoKey, updatedAt }) => {
    const image = photoKey === null ? undefined : images.get(photoKey.toLowerCase());
    const company = companyId === null ? undefined : names.get(companyId);
    return {
      id,
      name,
      ...(image && { photo: image, photoStorageId: image.storageKey }),
      ...(company && { company }),
      updatedAt: updatedAt.toISOString(),
    };
  });
}

async function companyNames(
  database: Database,
  ids: readonly (number | null)[],
): Promise<Map<number, { id: number; name: string }>> {
  const companies = await findCompanyNames(database, [...new Set(ids.filter(id => id !== null))]);
  return new Map(companies.map(({ id, name }) => [id, { id, name }]));
}

/** An image or document as sent, with its stored metadata. */
export function describedDocument(sent: SentDocument, images: readonly DescribedImage[]): object {
  const image = imageOf(sent, images);
  return image ? { ...sent, ...described(image) } : sent;
}

function imageOf(sent: SentDocument, images: readonly DescribedImage[]): DescribedImage | undefined {
  const key = sent.storageKey?.toLowerCase();
  return images.find(({ storageKey }) => storageKey === key);
}

function described({ id, storageKey, name, contentType, size }: DescribedImage): DescribedImage {
  return { id, storageKey, name, contentType, size };
}
