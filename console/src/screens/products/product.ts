import type { StoredFile } from '../../api/stored-file.ts';
import {
  changedValues,
  isSame,
  nested,
  textOf,
  type Values,
  valueAt,
  valuesOf,
  withoutEmpty,
} from '../../parts/forms/nested.ts';
import { changedOrigin, type Origin, originOf } from './origin/origin.ts';

/** The texts of the form, by their paths, in groups. */
export const GROUPS = {
  story: [
    'origin.text',
    'process.production',
    'responsibility.laborPolicies',
    'sustainability.production',
    'sustainability.packaging',
    'sustainability.co2Footprint',
  ],
  prices: ['settings.incomeIncreaseDescription'],
  legal: ['settings.gdprText', 'settings.privacyPolicyText', 'settings.termsOfUseText'],
} as const;

const OTHERS = [
  'name',
  'description',
  'valueChain.id',
  'settings.language',
  'settings.currency',
  'knowledgeBlog',
];
const PATHS = [...OTHERS, ...Object.values(GROUPS).flat()];

export interface Partner {
  /** id; empty while none is chosen */
  company: string;
  /** of the company */
  name: string;
  type: string;
}

/** The relations of companies to a product, but for its owner's. */
export const RELATIONS = [
  'BUYER',
  'IMPORTER',
  'EXPORTER',
  'PRODUCER',
  'ASSOCIATION',
  'PROCESSOR',
  'TRADER',
  'ROASTER',
] as const;

/** The owner of a product that belongs to no company. */
export const ONLY_USER = 'user';

/** The entries of the form of a product. */
export interface ProductForm extends Origin {
  values: Values;
  photo: StoredFile | undefined;
  incomeDocument: StoredFile | undefined;
  partners: Partner[];
  prices: { name: string; value: string }[];
  agreements: { id?: number; description: string; document?: StoredFile | undefined }[];
  /** id of the company that owns a new product, ONLY_USER, or empty while none is chosen */
  owner: string;
  /** code of the owner's currency; empty if they have none */
  ownerCurrency: string;
}

/** The form of a product; without one, that of a new one. */
export function formOf(product: object = {}): ProductForm {
  const at = <Value>(path: string) => structuredClone(valueAt(product, path)) as Value | undefined;
  const owner = textOf(at('company.id'));
  return {
    // A blog is public unless its product says otherwise.
    values: { ...valuesOf(product, PATHS), knowledgeBlog: valueAt(product, 'knowledgeBlog') !== false },
    photo: at<StoredFile>('photo'),
    incomeDocument: at<StoredFile>('settings.incomeIncreaseDocument'),
    ...originOf(product),
    partners: (at<{ company: { id: number; name?: string }; type: string }[]>('associatedCompanies') ?? [])
      .filter(({ type }) => type !== 'OWNER')
      .map(({ company: { id, name }, type }) => ({ company: String(id), name: name ?? String(id), type })),
    prices: Object.entries(at<Record<string, number>>('settings.pricingTransparency') ?? {}).map(
      ([name, value]) => ({ name, value: textOf(value) }),
    ),
    agreements: (at<ProductForm['agreements']>('dataSharingAgreements') ?? []).map(agreement => ({
      ...agreement,
      description: textOf(agreement.description),
    })),
    owner,
    ownerCurrency: textOf(at('company.currency.code')),
  };
}

/**
 * The body that a form makes of what has changed; an empty text clears a field.
 *
 * @param before the form as it was loaded; without one, that of a new product
 */
export function bodyOf(form: ProductForm, before: ProductForm = formOf()): object {
  const sent = changedValues(form.values, before.values);
  const body = nested(sent) as Record<string, Record<string, unknown>>;
  if (sent['valueChain.id'] === '') Object.assign(body, { valueChain: '' });
  const changed = (name: 'partners' | 'prices' | 'agreements') => !isSame(form[name], before[name]);
  const income = fileIn('incomeIncreaseDocument', form.incomeDocument, before.incomeDocument);
  const settings = {
    ...body.settings,
    ...(changed('prices') && { pricingTransparency: pricesOf(form) }),
    ...income,
  };
  const { locations, markers } = changedOrigin(form, before);
  const origin = { ...body.origin, ...(locations && { locations }) };
  return {
    ...body,
    ...(before.owner === '' && !['', ONLY_USER].includes(form.owner) && { company: { id: form.owner } }),
    ...fileIn('photo', form.photo, before.photo),
    ...(Object.keys(origin).length > 0 && { origin }),
    ...(markers && { journeyMarkers: markers }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(changed('partners') && { associatedCompanies: partnersOf(form) }),
    ...(changed('agreements') && { dataSharingAgreements: agreementsOf(form) }),
  };
}

function fileIn(name: string, file: StoredFile | undefined, before: StoredFile | undefined): object {
  if (file?.storageKey === before?.storageKey) return {};
  return { [name]: file ? { storageKey: file.storageKey } : '' };
}

function pricesOf({ prices }: ProductForm): object {
  const named = prices.filter(({ name, value }) => name.trim() !== '' && value !== '');
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}

function partnersOf({ partners }: ProductForm): object[] {
  return partners
    .filter(({ company }) => company.trim() !== '')
    .map(({ company, type }) => ({ company: { id: company.trim() }, type }));
}

function agreementsOf({ agreements }: ProductForm): object[] {
  return agreements.map(({ id, description, document }) => ({
    ...(id !== undefined && { id }),
    ...withoutEmpty({ description }),
    ...(document && { document: { storageKey: document.storageKey } }),
  }));
}
