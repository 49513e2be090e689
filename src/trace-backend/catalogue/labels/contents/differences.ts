import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../../../platform/database/database.ts';
import { findLatestVersions } from '../../products/history/changes-store.ts';
import { latestVersions, type Versions } from '../../products/history/latest-versions.ts';
import { READ_ONLY } from '../../products/record/consumer.ts';
import { KNOWN_FIELDS } from '../../products/record/parts.ts';
import type { Product } from '../../products/record/store.ts';
import { asAnswer, copyOf, described } from './content.ts';
import type { Read } from './read.ts';
import { COMPANY_FIELDS, LABEL_PARTS } from './schemas.ts';
import { findCompared, findOwn, findPublishedCopies, type OwnContent } from './store.ts';

/** What a label tells otherwise than a new label of its product would. */
export interface Difference {
  /** such as description, origin.locations or company.phone */
  name: string;
  /** absent if the label has no value */
  label?: unknown;
  /** absent if the product has no value */
  product?: unknown;
  /** whether the product was changed since the label was compared with it, or changed itself */
  isNewer: boolean;
}

/** Changes of a product that are looked at, at most: those of the last years of nearly all products. */
const LOOKED_AT = 1000;

/** The parts of contents whose fields are compared one by one, with the fields that are known. */
const OBJECTS = new Map([...KNOWN_FIELDS, ['company', COMPANY_FIELDS]]);

/** What labels copy. */
const PARTS = ['name', ...LABEL_PARTS, 'company'];

/** What can differ, besides unknown fields of parts. */
const NAMES = PARTS.flatMap(part => {
  const fields = OBJECTS.get(part);
  return fields ? fields.map(field => `${part}.${field}`).filter(isTold) : [part];
});

/** Fields that tell people nothing. */
function isTold(name: string): boolean {
  return name !== 'company.id' && !READ_ONLY.some(field => name === `businessToCustomerSettings.${field}`);
}

/**
 * What differs between a label and its product.
 *
 * @param read the label as its reader may see it
 * @param current what a new label of the product would tell its reader
 */
export async function findDifferences(
  database: Database,
  { label, product, own }: Read,
  current: OwnContent,
): Promise<{ productChanged: boolean; differences: Difference[] }> {
  const [changes, compared, ...shown] = await Promise.all([
    findLatestVersions(database, product.id, LOOKED_AT),
    findCompared(database, label.id),
    described(database, own),
    described(database, current),
  ]);
  const versions = latestVersions(changes);
  const differences = differencesOf(label.id, shown).map(difference => ({
    ...difference,
    isNewer: isNewer(versions, { id: label.id, compared }, difference.name),
  }));
  const productChanged = label.status === 'PUBLISHED' && differences.some(each => each.isNewer);
  return { productChanged, differences };
}

/**
 * The published labels of a product that tell something which the product has changed since: consumers may see what is
 * not so any more.
 *
 * @returns their ids
 */
export async function findOutdated(database: Database, product: Product): Promise<Set<number>> {
  const copies = await findPublishedCopies(database, product.id);
  const outdated = new Set<number>();
  if (copies.length === 0) return outdated;
  const versions = latestVersions(await findLatestVersions(database, product.id, LOOKED_AT));
  const last = Math.max(...PARTS.map(versions.of));
  const candidates = copies.filter(({ compared }) => compared < last);
  if (candidates.length === 0) return outdated;
  const current = await copyOf(database, product);
  for (const copy of candidates) {
    const own = await findOwn(database, copy.id);
    const differences = own ? differencesOf(copy.id, [own, current]) : [];
    if (differences.some(({ name }) => isNewer(versions, copy, name))) outdated.add(copy.id);
  }
  return outdated;
}

function isNewer(
  versions: Versions,
  { id, compared }: { id: number; compared: number },
  name: string,
): boolean {
  // The history of a product has no changes of its owner, but those of who owns it.
  const inProduct = name.startsWith('company.') ? 'company' : name;
  return versions.of(inProduct) > Math.max(compared, versions.of(`labels.${id}.content.${name}`));
}

/** What differs between contents, in the order of the schema; what is empty or a default in both does not. */
function differencesOf(
  labelId: number,
  contents: readonly OwnContent[],
): Pick<Difference, 'name' | 'label' | 'product'>[] {
  const [label = new Map(), product = new Map()] = contents.map(content =>
    valuesOf(asAnswer(labelId, content)),
  );
  return namesIn(label, product).flatMap(name => {
    const [own, current] = [label.get(name), product.get(name)];
    if (isDeepStrictEqual(comparable(own), comparable(current))) return [];
    return [{ name, ...(!isEmpty(own) && { label: own }), ...(!isEmpty(current) && { product: current }) }];
  });
}

function namesIn(...values: ReadonlyMap<string, unknown>[]): string[] {
  const all = new Set([...NAMES, ...values.flatMap(each => [...each.keys()])]);
  return [...all].filter(name => values.some(each => each.has(name)));
}

/** The values of a content by what can differ. */
function valuesOf(content: object): Map<string, unknown> {
  const parts = Object.entries(content).filter(([part]) => PARTS.includes(part));
  return new Map(
    parts
      .flatMap(([part, value]) =>
        OBJECTS.has(part) && isObject(value)
          ? Object.entries(value).map(([field, inside]) => [`${part}.${field}`, inside] as const)
          : [[part, value] as const],
      )
      .filter(([name]) => isTold(name)),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A value without what is empty in it; an image or document by its storage key. */
function comparable(value: unknown): unknown {
  if (!isObject(value)) return isEmpty(value) ? undefined : value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(comparable);
  if ('storageKey' in value) return comparable(String(value.storageKey ?? '').toLowerCase());
  const fields = Object.entries(value).flatMap(([name, inside]) => {
    const compared = comparable(inside);
    return compared === undefined ? [] : [[name, compared] as const];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function isEmpty(value: unknown): boolean {
  return isObject(value)
    ? comparable(value) === undefined
    : [undefined, null, '', false].includes(value as '');
}

/** A label's own content with the product's values of these names. A value that the product does not have is removed. */
export function takenOver(own: OwnContent, current: OwnContent, names: readonly string[]): OwnContent {
  const taken: Record<string, unknown> = { ...own };
  // The name of the owner is that of another company if the product has moved to it.
  for (const name of names.includes('company.name') ? [...names, 'company.id'] : names) {
    const [part = '', ...rest] = name.split('.');
    const field = rest.join('.');
    if (field === '') assign(taken, part, (current as Record<string, unknown>)[part]);
    else {
      const inside = { ...(taken[part] as object | undefined) };
      assign(inside, field, ((current as Record<string, unknown>)[part] as Record<string, unknown>)?.[field]);
      assign(taken, part, Object.keys(inside).length === 0 ? undefined : inside);
    }
  }
  return taken as OwnContent;
}

function assign(record: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete record[name];
  else record[name] = value;
}

/** Whether a name is that of something that can differ between these contents. */
export function canDiffer(name: string, ...contents: OwnContent[]): boolean {
  return NAMES.includes(name) || contents.some(content => valuesOf(content).has(name));
}
