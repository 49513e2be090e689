import type { components } from '../../api/generated/trace-backend.d.ts';
import type { StoredFile } from '../../api/stored-file.ts';
import { changedValues, nested, type Values, valueAt, valuesOf } from '../../parts/forms/nested.ts';

type Body = components['schemas']['NewCompany'];
/** The fields of a shape that are texts. */
type TextsOf<Shape> = {
  [Name in keyof Shape & string]-?: NonNullable<Shape[Name]> extends string ? Name : never;
}[keyof Shape & string];
type TextPath = TextsOf<Body> | `headquarters.${TextsOf<NonNullable<Body['headquarters']>>}`;

/** The texts of a company as the service defines them, each with its group in the form; `own` are those in no group. */
export const TEXTS: Readonly<Record<TextPath, 'own' | 'contact' | 'address' | 'rwanda' | 'honduras'>> = {
  name: 'own',
  about: 'own',
  interview: 'own',
  abbreviation: 'contact',
  manager: 'contact',
  email: 'contact',
  phone: 'contact',
  webPage: 'contact',
  'headquarters.address': 'address',
  'headquarters.zip': 'address',
  'headquarters.city': 'address',
  'headquarters.state': 'address',
  'headquarters.otherAddress': 'address',
  'headquarters.village': 'rwanda',
  'headquarters.cell': 'rwanda',
  'headquarters.sector': 'rwanda',
  'headquarters.hondurasFarm': 'honduras',
  'headquarters.hondurasVillage': 'honduras',
  'headquarters.hondurasMunicipality': 'honduras',
  'headquarters.hondurasDepartment': 'honduras',
};
const PATHS = Object.keys(TEXTS) as TextPath[];
const groupOf = (name: (typeof TEXTS)[TextPath]) => PATHS.filter(path => TEXTS[path] === name);

/** The fields of the form in groups; those of headquarters by their paths. */
export const GROUPS = {
  contact: groupOf('contact'),
  address: groupOf('address'),
  rwanda: groupOf('rwanda'),
  honduras: groupOf('honduras'),
};

/** The groups of countries whose addresses have fields of their own, by ISO 3166-1 alpha-2. */
export const OWN_ADDRESSES: Partial<Record<string, 'rwanda' | 'honduras'>> = { RW: 'rwanda', HN: 'honduras' };

/** The names of the media that every form offers. */
export const MEDIA: Partial<Record<string, string>> = {
  facebook: 'Facebook',
  instagram: 'Instagram',
  twitter: 'Twitter',
  youtube: 'YouTube',
};

const VALUES = [...PATHS, 'headquarters.country.id', 'currency.code'];

/** A document of a company in the form. */
export interface DocumentEntry extends Record<string, unknown> {
  id?: number;
  document?: StoredFile | undefined;
}
export interface CertificationEntry extends Record<string, unknown> {
  id?: number;
  certificate?: StoredFile | undefined;
}

/** The entries of the form of a company. */
export interface Profile {
  values: Values;
  media: Record<string, string>;
  logo: StoredFile | undefined;
  documents: DocumentEntry[];
  certifications: CertificationEntry[];
  /** ids */
  valueChains: number[];
}

/** The form of a company; without one, that of a new one. */
export function profileOf(company: object = {}): Profile {
  const links = (valueAt(company, 'mediaLinks') ?? {}) as Record<string, string>;
  const names = [...new Set([...Object.keys(MEDIA), 'other', ...Object.keys(links)])];
  const list = <Entry>(name: string) => structuredClone((valueAt(company, name) ?? []) as Entry[]);
  return {
    values: valuesOf(company, VALUES),
    media: Object.fromEntries(names.map(name => [name, links[name] ?? ''])),
    logo: valueAt(company, 'logo') as StoredFile | undefined,
    documents: list<DocumentEntry>('documents'),
    certifications: list<CertificationEntry>('certifications'),
    valueChains: list<{ id: number }>('valueChains').map(({ id }) => id),
  };
}

/**
 * The body that a form makes of what has changed; an empty text clears a field.
 *
 * @param before the form as it was loaded; without one, that of a new company
 */
export function bodyOf(profile: Profile, before: Profile = profileOf()): object {
  const { values, media, logo, documents, certifications, valueChains } = profile;
  const sent = changedValues(values, before.values);
  const body = nested(sent);
  if (sent['headquarters.country.id'] === '') (body.headquarters as Values).country = '';
  if (sent['currency.code'] === '') body.currency = '';
  const links = Object.entries(media).filter(([, link]) => link !== '');
  return {
    ...body,
    mediaLinks: Object.fromEntries(links),
    ...(logo?.storageKey !== before.logo?.storageKey && {
      logo: logo ? { storageKey: logo.storageKey } : '',
    }),
    documents: documents.map(entry => withFile(entry, 'document')),
    certifications: certifications.map(entry => withFile(entry, 'certificate')),
    valueChains: valueChains.map(id => ({ id })),
  };
}

/** An entry of a list without its empty fields: the list replaces the one before. */
function withFile(entry: Record<string, unknown>, field: string): object {
  const kept = Object.entries(entry).filter(([, value]) => value !== '' && value != null);
  const { [field]: file, ...rest } = Object.fromEntries(kept);
  return { ...rest, ...(file ? { [field]: { storageKey: (file as StoredFile).storageKey } } : {}) };
}
