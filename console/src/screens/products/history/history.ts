import { TEXTS as COMPANY_TEXTS } from '../../companies/profile.ts';
import {
  AMOUNTS,
  COLOURS,
  FONTS,
  PICTURES,
  PRICE_GRAPHICS,
  SHOWN_GRAPHICS,
  TABS,
} from '../consumer-page/consumer.ts';
import { GROUPS } from '../product.ts';

/** A step on the way to a field. */
export interface Step {
  /** of the message that names it; absent for what forms do not name */
  key?: string;
  /** which one of several: its place from 1, its id, or its name */
  which?: string;
  /** the kind of record whose id it is, if such records have names */
  record?: string;
}

interface Field {
  /** of its message */
  key: string;
  /** whether there are several, by their places or ids */
  several?: 'places' | 'ids';
  /** the kind of record, if the ids are of records with names */
  record?: string;
  fields?: Fields;
}
/** Fields by their paths, of one or two names. */
type Fields = Record<string, Field>;

/** Fields whose messages are in one area, by their names in it. */
function fieldsOf(area: string, names: Record<string, string>): Fields {
  return Object.fromEntries(Object.entries(names).map(([path, name]) => [path, { key: `${area}.${name}` }]));
}

const TEXTS = [
  'name',
  'description',
  'settings.costBreakdown',
  'settings.language',
  'knowledgeBlog',
  ...Object.values(GROUPS).flat(),
];
const PLACE = fieldsOf('products', {
  pinName: 'pin.name',
  latitude: 'pin.latitude',
  longitude: 'pin.longitude',
  numberOfFarmers: 'pin.farmers',
  areaInHectares: 'pin.area',
  countryCode: 'pin.country',
  address: 'pin.address',
  geoid: 'pin.geoid',
});
/** Also of what only apps show, which the console does not offer. */
const CONSUMER_PAGE: Fields = Object.fromEntries([
  ...[...COLOURS, ...SHOWN_GRAPHICS, ...PRICE_GRAPHICS, ...AMOUNTS, ...PICTURES, ...FONTS].map(name => [
    name,
    { key: `consumer.${name}` },
  ]),
  ...TABS.flatMap(tab => [
    [`tab${tab}`, { key: `consumer.tab${tab}` }],
    [`order${tab}`, { key: 'consumer.tabs' }],
  ]),
]);
const ENTRY = fieldsOf('products', {
  title: 'knowledge.title',
  type: 'knowledge.type',
  date: 'knowledge.date',
  summary: 'knowledge.summary',
  content: 'knowledge.content',
  youtubeUrl: 'knowledge.video',
  documents: 'knowledge.documents',
});
// The form asks for its number, but a name is shown.
const PARTNER: Fields = { company: { key: 'companies.profile' }, type: { key: 'products.partner.relation' } };
const AGREEMENT = fieldsOf('products', { description: 'field.description', document: 'file' });
const FINAL = fieldsOf('products', {
  name: 'field.name',
  description: 'field.description',
  unitId: 'final.unit',
  labelIds: 'final.labels',
});

const places = (key: string, fields: Fields): Field => ({ key, several: 'places', fields });
const ids = (key: string, fields: Fields, record: string): Field => ({ key, several: 'ids', fields, record });

const BATCH: Fields = {
  ...fieldsOf('labels', {
    number: 'batch.number',
    productionDate: 'batch.produced',
    expiryDate: 'batch.expires',
    checkAuthenticity: 'batch.authentic',
    traceOrigin: 'batch.origin',
  }),
  photo: { key: 'products.photo' },
  locations: places('products.pins', PLACE),
};
/** The data of the owner that a label shows. */
const COMPANY: Fields = fieldsOf('companies', {
  ...Object.fromEntries(
    [...Object.keys(COMPANY_TEXTS), 'headquarters.country'].map(path => [
      path,
      `field.${path.slice(path.lastIndexOf('.') + 1)}`,
    ]),
  ),
  logo: 'logo',
  headquarters: 'group.address',
});

/** A value of a product, and the label's copy of it. */
const CONTENT: Fields = {
  ...fieldsOf(
    'products',
    Object.fromEntries(TEXTS.map(path => [path, `field.${path.replaceAll('.', '-')}`])),
  ),
  ...fieldsOf('products', {
    photo: 'photo',
    valueChain: 'valueChain',
    origin: 'group.origin',
    settings: 'group.settings',
    process: 'group.story',
    responsibility: 'group.story',
    sustainability: 'group.story',
    'settings.pricingTransparency': 'prices',
    'settings.incomeIncreaseDocument': 'incomeDocument',
    'settings.currency': 'price.currency',
  }),
  company: { key: 'products.owner', fields: COMPANY },
  'origin.locations': places('products.pins', PLACE),
  journeyMarkers: places('products.journey', PLACE),
  associatedCompanies: places('products.partners', PARTNER),
  dataSharingAgreements: places('products.agreements', AGREEMENT),
  businessToCustomerSettings: { key: 'consumer.title', fields: CONSUMER_PAGE },
};
const LABEL: Fields = {
  status: { key: 'administration.status' },
  ...fieldsOf('labels', { title: 'name', language: 'language', fields: 'shows', documents: 'documents' }),
  batches: ids('labels.batches', BATCH, 'batch'),
  content: { key: 'labels.texts', fields: CONTENT },
};
const PRODUCT: Fields = {
  ...CONTENT,
  labels: ids('labels.label', LABEL, 'label'),
  finalProducts: ids('products.finals', FINAL, 'final-product'),
  knowledgeBlogs: ids('products.knowledge', ENTRY, 'knowledge-blog'),
};

/** How the forms name the field of a path such as origin.locations.0.latitude, from the outside in. */
export function stepsTo(path: string): Step[] {
  const steps: Step[] = [];
  // A file is named as a whole.
  let names = path.replace(/\.storageKey$/, '').split('.');
  let fields = PRODUCT;
  while (names.length > 0) {
    const length = Object.hasOwn(fields, names.slice(0, 2).join('.')) ? Math.min(2, names.length) : 1;
    const name = names.slice(0, length).join('.');
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) return [...steps, { which: unnamed(names.join('.')) }];
    names = names.slice(length);
    const which = field.several && names.shift();
    steps.push({
      key: field.key,
      ...(which !== undefined && { which: field.several === 'places' ? String(Number(which) + 1) : which }),
      ...(which !== undefined && field.record !== undefined && { record: field.record }),
    });
    fields = field.fields ?? {};
  }
  return steps;
}

/** Names for paths without a form field: entries of plain lists count from 1, like those of other lists. */
function unnamed(rest: string): string {
  return /^\d+$/.test(rest) ? String(Number(rest) + 1) : rest;
}

/** How the value of a path is said: as the name of what its id refers to, a word of a form, a date, a country, a language, a file without a name, or the name of a field. */
export type Meaning =
  | { record: string; within?: string }
  | { word: (text: string) => string }
  | 'date'
  | 'country'
  | 'language'
  | 'file'
  | 'field';

const REFERENCES: Partial<Record<string, string>> = {
  company: 'company',
  valueChain: 'value-chain',
  unitId: 'measure-unit-type',
  labelIds: 'label',
};
/** The paths whose values are words of forms, with the keys of their messages. */
const WORDS: readonly (readonly [path: RegExp, word: (text: string) => string])[] = [
  [/^associatedCompanies\.\d+\.type$/, text => `products.relation.${text}`],
  [/^knowledgeBlogs\.\d+\.type$/, text => `products.knowledge.${text}`],
  [/^labels\.\d+\.status$/, text => `labels.status.${text}`],
  [new RegExp(`\\.(${PRICE_GRAPHICS.join('|')})$`), text => `consumer.unit.${text}`],
];

/** The meaning of the value at a path; undefined for a text or a number. */
export function meaningOf(path: string): Meaning | undefined {
  const names = path.split('.').filter(name => !/^(\d+|id)$/.test(name));
  const last = names.at(-1) ?? '';
  const record = Object.hasOwn(REFERENCES, last) ? REFERENCES[last] : undefined;
  if (record !== undefined) return { record };
  if (/^(productionDate|expiryDate|date)$/.test(last)) return 'date';
  if (last === 'countryCode') return 'country';
  if (last === 'language') return 'language';
  if (last === 'storageKey') return 'file';
  const [, labelId] = LABEL_DOCUMENTS.exec(path) ?? [];
  if (labelId !== undefined) return { record: 'label-document', within: labelId };
  if (LABEL_FIELDS.test(path)) return 'field';
  const [, word] = WORDS.find(([pattern]) => pattern.test(path)) ?? [];
  return word && { word };
}

/** A stored value that is said as a whole: a text, a number, yes or no, an id, or the name of a file. */
export type Leaf = string | number | boolean;

/** A value of a path. */
export interface Part {
  path: string;
  value: Leaf;
  /** whether it is the key of a file without a name */
  isFile?: true;
}

/** Members that mean nothing to people. */
const TECHNICAL = new Set(['id', 'uuid', 'labelId', 'productId']);
const LABEL_DOCUMENTS = /^labels\.(\d+)\.documents(?:\.\d+)?$/;
const LABEL_FIELDS = /^labels\.\d+\.fields$/;

/** The fields that a label shows, by the paths that they have in a product. */
function shownBy(path: string, entries: readonly unknown[]): Part[] {
  return (entries as { name?: unknown; visible?: unknown }[])
    .filter(({ visible }) => visible !== false)
    .map(({ name }) => ({ path, value: String(name) }));
}

/** The parts of a stored value with their paths; empty values are left out. */
export function partsOf(path: string, value: unknown): Part[] {
  if (value === undefined || value === null || value === '') return [];
  if (typeof value !== 'object') return [{ path, value: value as Leaf }];
  const { storageKey, name, id } = value as { storageKey?: unknown; name?: unknown; id?: unknown };
  if (storageKey !== undefined)
    return [name ? { path, value: String(name) } : { path, value: String(storageKey), isFile: true }];
  const members = Object.entries(value).filter(([member]) => !TECHNICAL.has(member));
  if (LABEL_FIELDS.test(path))
    return shownBy(
      path,
      members.map(([, entry]) => entry),
    );
  if (members.length === 0 && id !== undefined) return [{ path, value: String(id) }];
  return members.flatMap(([member, inside]) => partsOf(path === '' ? member : `${path}.${member}`, inside));
}

/** The fields whose files are pictures. */
const PICTURE = new RegExp(`(^|\\.)(photo|logo|${PICTURES.join('|')})(\\.storageKey)?$`);

/** The file that the value of a path is; undefined if it is none. */
export function fileOf(path: string, value: unknown): { key: string; isPicture: boolean } | undefined {
  const { storageKey } =
    typeof value === 'object' ? ((value ?? {}) as { storageKey?: unknown }) : { storageKey: value };
  const isFile = typeof value === 'object' || path.endsWith('.storageKey');
  if (!isFile || typeof storageKey !== 'string') return undefined;
  return { key: storageKey, isPicture: PICTURE.test(path) };
}

/** The kind of change of a field. */
export interface DescribedChange {
  /** of the messages products.history.did */
  did: 'created' | 'filled' | 'changed' | 'added' | 'removed';
  /** what was there, and what is there now; lists without what stayed */
  before: Part[];
  after: Part[];
  /** whether one value replaced another */
  isReplaced: boolean;
}

/** Describes a change of the history. */
export function describeChange({
  path,
  before,
  after,
}: {
  path: string;
  before?: unknown;
  after?: unknown;
}): DescribedChange {
  if (path === '' && before === undefined && after === undefined)
    return { did: 'created', before: [], after: [], isReplaced: false };
  const [was, is] = [before ?? undefined, after ?? undefined];
  if (Array.isArray(was ?? []) && Array.isArray(is ?? []) && (was ?? is) !== undefined) {
    const [left, come] = [was ?? [], is ?? []] as [unknown[], unknown[]];
    return {
      did: 'changed',
      before: without(path, left, come),
      after: without(path, come, left),
      isReplaced: false,
    };
  }
  const [parts, now] = [partsOf(path, was), partsOf(path, is)];
  const isWhole = [...parts, ...now].every(part => part.path === path);
  if (parts.length === 0)
    return { did: isWhole ? 'filled' : 'added', before: [], after: now, isReplaced: false };
  if (now.length === 0) return { did: 'removed', before: parts, after: [], isReplaced: false };
  return { did: 'changed', before: parts, after: now, isReplaced: isWhole };
}

/** The entries of a list that another list has not. */
function without(path: string, list: readonly unknown[], other: readonly unknown[]): Part[] {
  const others = new Set(other.map(entry => JSON.stringify(entry)));
  return list.flatMap((entry, index) =>
    others.has(JSON.stringify(entry)) ? [] : partsOf(`${path}.${index}`, entry),
  );
}
