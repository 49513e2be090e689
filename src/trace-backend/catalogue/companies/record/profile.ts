import { isDeepStrictEqual } from 'node:util';
import { Problem } from '../../../../platform/http/problems.ts';
import { type Country, findCountry, findCountryByCode } from '../../../base/countries/countries.ts';
import { sentFields } from '../../../base/records/changes.ts';
import { checkEmail } from '../../../identity/users/email.ts';
import type { Entries } from './entries.ts';
import { ADDRESS_FIELDS, type AddressField, fieldsOf } from './fields.ts';
import type { SentAddress } from './profile-schemas.ts';
import type { CompanyBody } from './schemas.ts';
import type { Profile } from './store.ts';

/** The paths of fields in bodies, where they differ from the fields' names. */
const PATHS: Partial<Record<keyof Profile, string>> = {
  ...Object.fromEntries(ADDRESS_FIELDS.map(field => [field, `headquarters.${field}`])),
  countryId: 'headquarters.country',
};

/** Fields that are stored as they are sent. */
const PLAIN = fieldsOf('name', 'text', 'url', 'flag');

const EMPTY_LISTS = { mediaLinks: {}, documents: [], certifications: [] };

/** A profile with only a name. */
export function emptyProfile(name: string): Profile {
  const empty = [...PLAIN, ...ADDRESS_FIELDS, 'email', 'countryId', 'logo', 'currency'] as const;
  const unset = Object.fromEntries(empty.map(field => [field, null]));
  return { ...(unset as { [field in (typeof empty)[number]]: null }), ...EMPTY_LISTS, name };
}

/**
 * A profile after a change. Omitted fields stay unchanged, in the company and in its headquarters. null clears a
 * field (`readBodies` turns an empty text into null); a text field keeps an empty text. Country, logo and links are
 * replaced as a whole.
 *
 * @param resolved the lists after the change, and the code of the sent currency: null for none, undefined for no change
 * @throws Problem invalid
 */
export function profileAfter(
  before: Profile,
  body: Omit<CompanyBody, 'currency' | keyof Entries>,
  resolved: Entries & { currency: string | null | undefined },
): Profile {
  const headquarters: SentAddress = body.headquarters === null ? NO_ADDRESS : (body.headquarters ?? {});
  const { country } = headquarters;
  const { email, logo, mediaLinks } = body;
  const sent = sentFields({
    ...Object.fromEntries(PLAIN.map(field => [field, body[field]])),
    ...Object.fromEntries(ADDRESS_FIELDS.map(field => [field, headquarters[field]])),
    email: email ? checkEmail(email, 'email').email : email,
    countryId: country ? countryIdOf(country) : country,
    logo: logo ? logo.storageKey.toLowerCase() : logo,
    mediaLinks: mediaLinks === null ? {} : mediaLinks,
    ...resolved,
  });
  return { ...before, ...sent } as Profile;
}

const NO_ADDRESS = {
  ...(Object.fromEntries(ADDRESS_FIELDS.map(field => [field, null])) as Record<AddressField, null>),
  country: null,
};

/** The id takes precedence over the code: clients that send back what they read send both. */
function countryIdOf({ id, code }: NonNullable<SentAddress['country']>): number {
  if (id != null) return idOfCountry('id', findCountry(id));
  if (code != null) return idOfCountry('code', findCountryByCode(code));
  throw new Problem('validation.required', { field: 'headquarters.country.id' });
}

function idOfCountry(field: 'id' | 'code', country: Country | undefined): number {
  if (country) return country.id;
  throw new Problem('country.unknown', { field: `headquarters.country.${field}` });
}

/** The paths of the fields in which two profiles differ. */
export function changedFields(before: Profile, after: Profile): string[] {
  const fields = Object.keys(emptyProfile('')) as (keyof Profile)[];
  return fields
    .filter(field => !isDeepStrictEqual(before[field], after[field]))
    .map(field => PATHS[field] ?? field);
}
