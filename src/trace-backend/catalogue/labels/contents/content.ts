import type { Database } from '../../../../platform/database/database.ts';
import { findCompany } from '../../companies/record/store.ts';
import type { ImageReference } from '../../images/references-store.ts';
import { findImages } from '../../images/store.ts';
import { checkLocations } from '../../products/origin/origin.ts';
import { profileOf } from '../../products/partners/owner.ts';
import {
  imagesOf,
  mergeContent,
  type SentDocument,
  withDefaults,
  withDocuments,
} from '../../products/record/content.ts';
import type { LabelField } from '../../products/record/label-schemas.ts';
import { checkPrices } from '../../products/record/prices.ts';
import type { Product } from '../../products/record/store.ts';
import { describedDocument } from '../../products/view.ts';
import { COMPANY_FIELDS, type ContentBody, LABEL_PARTS } from './schemas.ts';
import type { OwnContent } from './store.ts';

/** A copy of a product's and its owner's public content, for a new label. */
export async function copyOf(database: Database, product: Product): Promise<OwnContent> {
  const { name, content, companyId } = product;
  const company = companyId === null ? undefined : await findCompany(database, companyId);
  const profile = company && (await profileOf(database, company));
  const parts = Object.entries(content).filter(([part]) => LABEL_PARTS.includes(part));
  return {
    ...Object.fromEntries(parts),
    name,
    ...(profile && { company: picked(profile, COMPANY_FIELDS) }),
  };
}

function picked(record: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));
}

/**
 * A label's own content after a change. Omitted fields stay unchanged, in the content, in its parts and in the
 * company.
 *
 * @throws Problem invalid
 */
export function contentAfter(own: OwnContent, body: ContentBody): OwnContent {
  checkPrices(body);
  const { company: before = {}, ...content } = own;
  const after = mergeContent(content, picked(body, LABEL_PARTS) as ContentBody);
  if (body.origin !== undefined) checkLocations(after);
  const company = body.company === null ? {} : mergeCompany(before, body.company ?? {});
  return {
    ...after,
    name: body.name ?? own.name,
    ...(Object.keys(company).length > 0 && { company }),
  };
}

function mergeCompany(before: object, sent: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(picked(sent, COMPANY_FIELDS))) {
    if (value === null) delete merged[name];
    else if (name === 'headquarters' || name === 'mediaLinks') {
      merged[name] = { ...(merged[name] as object | undefined), ...(value as object) };
    } else merged[name] = value;
  }
  return merged;
}

/** The images and documents of a label's own content, with their fields. */
export function filesOf(own: OwnContent): ImageReference[] {
  const { storageKey } = logoOf(own) ?? {};
  const logo = { field: 'company.logo.storageKey', kind: 'image' } as const;
  return [...imagesOf(own), ...(storageKey ? [{ ...logo, storageKey }] : [])];
}

function logoOf({ company }: OwnContent): SentDocument | undefined {
  return (company?.logo ?? undefined) as SentDocument | undefined;
}

/** Adds the stored metadata to the images and documents of a label's own content. */
export async function withStoredMetadata(database: Database, own: OwnContent): Promise<OwnContent> {
  const keys = filesOf(own).map(({ storageKey }) => storageKey);
  const images = await findImages(database, keys);
  const logo = logoOf(own);
  const company = own.company && {
    ...own.company,
    ...(logo && { logo: describedDocument(logo, images) }),
  };
  const parts = withDocuments(own, sent => describedDocument(sent, images));
  return { ...parts, name: own.name, ...(company && { company }) };
}

/** A label's own content as in answers, with the parts that front ends need. */
export function asAnswer(labelId: number, own: OwnContent): object {
  const { settings, ...parts } = withDefaults(own);
  return {
    id: labelId,
    labelId,
    ...parts,
    settings: { language: 'EN', ...(settings as object) },
    company: { mediaLinks: {}, ...own.company },
  };
}

/** The value at a path such as name, process.production or company.logo. */
export function valueAt(own: OwnContent, path: string): unknown {
  let value: unknown = own;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Whether fields select parts of the label's own content; otherwise each field has a value itself. */
export function isSelective(fields: readonly LabelField[]): boolean {
  return fields.some(({ visible }) => visible != null);
}

/** The public view of a field; undefined if it is not visible. */
export function shownField(
  { name, section, value, visible }: LabelField,
  own: OwnContent | undefined,
): { name?: string; section?: string; value?: unknown } | undefined {
  if (visible === false) return undefined;
  const ownValue = visible && own && name ? valueAt(own, name) : undefined;
  const shown = ownValue ?? value ?? (visible && name === 'journeyMarkers' ? [] : undefined);
  return { ...(name && { name }), ...(section && { section }), ...(shown != null && { value: shown }) };
}

/** The storage keys of the images and documents that a label shows to everyone. */
export function publicFilesOf(fields: readonly LabelField[], own: OwnContent): string[] {
  const values = fields.flatMap(field => (field.visible ? [shownField(field, own)?.value] : []));
  const keys = [...values, own.businessToCustomerSettings].flatMap(storageKeysIn);
  const ownKeys = new Set(filesOf(own).map(({ storageKey }) => storageKey.toLowerCase()));
  return [...new Set(keys.map(key => key.toLowerCase()))].filter(key => ownKeys.has(key));
}

/** The storage keys of a value and of its fields. */
function storageKeysIn(value: unknown): string[] {
  const own = storageKeyOf(value);
  const inside = typeof value === 'object' && value !== null ? Object.values(value).map(storageKeyOf) : [];
  return [own, ...inside].filter(key => key !== undefined);
}

function storageKeyOf(value: unknown): string | undefined {
  const { storageKey } = (value ?? {}) as { storageKey?: unknown };
  return typeof storageKey === 'string' ? storageKey : undefined;
}
