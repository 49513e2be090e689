import type { StoredFile } from '../../api/stored-file.ts';
import { changedValues, isSame, nested, type Values, valueAt, valuesOf } from '../../parts/forms/nested.ts';

/** The texts of the form, by their paths, in groups. */
export const GROUPS = {
  story: [
    ...['origin.text', 'process.production', 'responsibility.laborPolicies'],
    ...['sustainability.production', 'sustainability.packaging', 'sustainability.co2Footprint'],
  ],
  prices: ['settings.incomeIncreaseDescription'],
  legal: ['settings.gdprText', 'settings.privacyPolicyText', 'settings.termsOfUseText'],
} as const;

const OTHERS = [
  ...['name', 'description', 'valueChain.id', 'settings.costBreakdown', 'settings.language'],
  'knowledgeBlog',
];
const PATHS = [...OTHERS, ...Object.values(GROUPS).flat()];

/** A pin of the origin; numbers as they are typed. */
export interface Pin extends Record<string, unknown> {
  pinName: string;
  latitude: string;
  longitude: string;
  numberOfFarmers: string;
  areaInHectares: string;
  countryCode: string;
  geoid: string;
}

/** A point of the way that a product takes. */
export interface Marker {
  latitude: string;
  longitude: string;
}

/** Where a product comes from and goes to: the part of the form that is on a map. */
export interface Origin {
  pins: Pin[];
  journey: Marker[];
}

export interface Partner {
  company: string;
  type: string;
}

/** The relations of companies to a product, but for its owner's. */
export const RELATIONS = [
  ...['BUYER', 'IMPORTER', 'EXPORTER', 'PRODUCER', 'ASSOCIATION', 'PROCESSOR', 'TRADER', 'ROASTER'],
] as const;

/** What the form of a product holds. */
export interface ProductForm extends Origin {
  values: Values;
  photo: StoredFile | undefined;
  incomeDocument: StoredFile | undefined;
  partners: Partner[];
  prices: { name: string; value: string }[];
  agreements: { id?: number; description: string; document?: StoredFile | undefined }[];
  /** id of the company that owns a new product */
  owner: string;
}

export const newMarker = (): Marker => ({ latitude: '', longitude: '' });
export const newPin = (): Pin => ({
  ...newMarker(),
  ...{ pinName: '', numberOfFarmers: '', areaInHectares: '', countryCode: '', geoid: '' },
});

const text = (value: unknown) => (value == null ? '' : String(value));

/** The form of a product; without one, that of a new one. */
export function formOf(product: object = {}): ProductForm {
  const at = <Value>(path: string) => structuredClone(valueAt(product, path)) as Value | undefined;
  const owner = text(at('company.id'));
  return {
    values: valuesOf(product, PATHS),
    photo: at<StoredFile>('photo'),
    incomeDocument: at<StoredFile>('settings.incomeIncreaseDocument'),
    ...originOf(product),
    partners: (at<{ company: { id: number }; type: string }[]>('associatedCompanies') ?? [])
      .filter(({ type }) => type !== 'OWNER')
      .map(({ company, type }) => ({ company: String(company.id), type })),
    prices: Object.entries(at<Record<string, number>>('settings.pricingTransparency') ?? {}).map(
      ([name, value]) => ({ name, value: text(value) }),
    ),
    agreements: (at<ProductForm['agreements']>('dataSharingAgreements') ?? []).map(one => ({
      ...one,
      description: text(one.description),
    })),
    owner,
  };
}

/** The pins and the journey of a product, or of the content of a label. */
export function originOf(record: object): Origin {
  const list = (path: string) =>
    structuredClone((valueAt(record, path) ?? []) as (Record<string, unknown> | undefined)[]);
  const names = Object.keys(newPin());
  return {
    pins: list('origin.locations').map(
      location =>
        ({ ...location, ...Object.fromEntries(names.map(name => [name, text(location?.[name])])) }) as Pin,
    ),
    journey: list('journeyMarkers').map(marker => ({
      latitude: text(marker?.latitude),
      longitude: text(marker?.longitude),
    })),
  };
}

/** What of the pins and the journey has changed, as bodies have it. */
export function changedOrigin(origin: Origin, before: Origin): { locations?: object[]; markers?: object[] } {
  return {
    ...(!isSame(origin.pins, before.pins) && { locations: origin.pins.map(withoutEmpty) }),
    ...(!isSame(origin.journey, before.journey) && { markers: origin.journey.map(withoutEmpty) }),
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
    ...(before.owner === '' && form.owner !== '' && { company: { id: form.owner } }),
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

function withoutEmpty(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '' && value != null));
}
