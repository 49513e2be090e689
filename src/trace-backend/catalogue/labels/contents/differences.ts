import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../../../platform/database/database.ts';
import { findLatestVersions } from '../../products/history/changes-store.ts';
import { latestVersions, type Versions } from '../../products/history/latest-versions.ts';
import { READ_ONLY } from '../../products/record/consumer.ts';
import { KNOWN_FIELDS } from '../../products/record/parts.ts';
import type { Product } from '../../products/record/store.ts';
import { asAnswer, copyOf, withStoredMetadata } from './content.ts';
import type { LabelRead } from './read.ts';
import { COMPANY_FIELDS, LABEL_PARTS } from './schemas.ts';
import { findCompared, findOwn, findPublishedCopies, type OwnContent } from './store.ts';

/** A difference between a label and a new label of its product. */
export interface Difference {
  /** path of the field, such as description, origin.locations or company.phone */
  name: string;
  /** absent if the label has no value */
  label?: unknown;
  /** absent if the product has no value */
  product?: unknown;
  /** whether the product's value changed after the last comparison with the label and the label's last change */
  isNewer: boolean;
}

/** Maximum changes of a product that are considered, the newest; nearly all products have fewer. */
const MAX_CHANGES = 1000;

/** The parts of contents that are compared field by field, with their known fields. */
const OBJECTS = new Map([...KNOWN_FIELDS, ['company', COMPANY_FIELDS]]);

/** The parts that labels copy. */
const PARTS = ['name', ...LABEL_PARTS, 'company'];

/** The paths that can differ, except unknown fields of parts. */
const NAMES = PARTS.flatMap(part => {
  const fields = OBJECTS.get(part);
  return fields ? fields.map(field => `${part}.${field}`).filter(isCompared) : [part];
});

/** Whether a path is compared: ids and timestamps carry no information for people. */
function isCompared(name: string): boolean {
  return name !== 'company.id' && !READ_ONLY.some(field => name === `businessToCustomerSettings.${field}`);
}

/**
 * The differences between a label and its product.
 *
 * @param read the label as its reader may see it
 * @param current the content of a new label of the product, as its reader may see it
 */
export async function findDifferences(
  database: Database,
  { label, product, own }: LabelRead,
  current: OwnContent,
): Promise<{ productChanged: boolean; differences: Difference[] }> {
  const [changes, compared, ...contents] = await Promise.all([
    findLatestVersions(database, product.id, MAX_CHANGES),
    findCompared(database, label.id),
    withStoredMetadata(database, own),
    withStoredMetadata(database, current),
  ]);
  const versions = latestVersions(changes);
  const differences = differencesOf(label.id, contents).map(difference => ({
    ...difference,
    isNewer: isNewer(versions, { id: label.id, compared }, difference.name),
  }));
  const productChanged = label.status === 'PUBLISHED' && differences.some(each => each.isNewer);
  return { productChanged, differences };
}

/**
 * The published labels of a product with values that the product has changed since: consumers may see outdated facts.
 *
 * @returns their ids
 */
export async function findOutdated(database: Database, product: Product): Promise<Set<number>> {
  const copies = await findPublishedCopies(database, product.id);
  const outdated = new Set<number>();
  if (copies.length === 0) return outdated;
  const versions = latestVersions(await findLatestVersions(database, product.id, MAX_CHANGES));
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
  // A product's history records when the owner is replaced, not when the owner's profile changes.
  const inProduct = name.startsWith('company.') ? 'company' : name;
  return versions.of(inProduct) > Math.max(compared, versions.of(`labels.${id}.content.${name}`));
}

/** The differences between contents, in the order of the schema; empty values and defaults are equal. */
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
  const names = new Set([...NAMES, ...values.flatMap(each => [...each.keys()])]);
  return [...names].filter(name => values.some(each => each.has(name)));
}

/** The values of a content, by path. */
function valuesOf(content: object): Map<string, unknown> {
  const parts = Object.entries(content).filter(([part]) => PARTS.includes(part));
  return new Map(
    parts
      .flatMap(([part, value]) =>
        OBJECTS.has(part) && isObject(value)
          ? Object.entries(value).map(([field, inside]) => [`${part}.${field}`, inside] as const)
          : [[part, value] as const],
      )
      .filter(([name]) => isCompared(name)),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A value for comparison: without empty fields, and with the storage key for an image or document. */
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

/** A label's own content with the product's values at these paths; values that the product lacks are removed. */
export function withProductValues(
  own: OwnContent,
  current: OwnContent,
  names: readonly string[],
): OwnContent {
  const result: Record<string, unknown> = { ...own };
  // Another owner's name means another company, so its id is copied, too.
  for (const name of names.includes('company.name') ? [...names, 'company.id'] : names) {
    const [part = '', ...rest] = name.split('.');
    const field = rest.join('.');
    if (field === '') assign(result, part, (current as Record<string, unknown>)[part]);
    else {
      const inside = { ...(result[part] as object | undefined) };
      assign(inside, field, ((current as Record<string, unknown>)[part] as Record<string, unknown>)?.[field]);
      assign(result, part, Object.keys(inside).length === 0 ? undefined : inside);
    }
  }
  return result as OwnContent;
}

function assign(record: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete record[name];
  else record[name] = value;
}

/** Whether these contents can differ at a path. */
export function canDiffer(name: string, ...contents: OwnContent[]): boolean {
  return NAMES.includes(name) || contents.some(content => valuesOf(content).has(name));
}
