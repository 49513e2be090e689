import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { checkEmail } from '../accounts/users/email.ts';
import { type Country, findCountry, findCountryByCode } from '../countries/countries.ts';
import type { CompanyBody, CompanyUpdate } from './schemas.ts';
import type { Profile } from './store.ts';

type Headquarters = NonNullable<Static<typeof CompanyUpdate>['headquarters']>;

/** The fields of a profile and their paths in bodies. */
const PATHS: Record<keyof Profile, string> = {
  name: 'name',
  abbreviation: 'abbreviation',
  about: 'about',
  manager: 'manager',
  webPage: 'webPage',
  email: 'email',
  address: 'headquarters.address',
  city: 'headquarters.city',
  state: 'headquarters.state',
  zip: 'headquarters.zip',
  countryId: 'headquarters.country',
  logo: 'logo',
};

/** A profile with nothing but a name. */
export function emptyProfile(name: string): Profile {
  const nothing = Object.fromEntries(Object.keys(PATHS).map(field => [field, null]));
  return { ...(nothing as { [field in keyof Profile]: null }), name };
}

/**
 * A profile after a change. Omitted fields stay unchanged, in the company and in its headquarters. null clears a
 * field (`readBodies` turns an empty text into null); a text field keeps an empty text. Country and logo are replaced
 * as a whole.
 *
 * @throws Problem invalid
 */
export function profileAfter(before: Profile, body: CompanyBody): Profile {
  const headquarters: Headquarters = body.headquarters === null ? NOWHERE : (body.headquarters ?? {});
  const { address, city, state, zip, country } = headquarters;
  const { abbreviation, about, manager, webPage, email, logo } = body;
  const sent = {
    ...{ name: body.name, abbreviation, about, manager, webPage },
    ...{ address, city, state, zip },
    email: email ? checkEmail(email, 'email').email : email,
    countryId: country ? countryIdOf(country) : country,
    logo: logo ? logo.storageKey.toLowerCase() : logo,
  };
  const given = Object.entries(sent).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(given) };
}

const NOWHERE = { address: null, city: null, state: null, zip: null, country: null };

/** The id takes precedence over the code: clients that send back what they read send both. */
function countryIdOf({ id, code }: NonNullable<Headquarters['country']>): number {
  if (id != null) return known('id', findCountry(id));
  if (code != null) return known('code', findCountryByCode(code));
  throw wrong('headquarters.country.id', 'is required');
}

function known(field: 'id' | 'code', country: Country | undefined): number {
  if (country) return country.id;
  throw wrong(`headquarters.country.${field}`, 'is not a country of GET /api/common/countries');
}

function wrong(path: string, what: string): Problem {
  const sentence = `${path} ${what}`;
  return new Problem('invalid', sentence, { fields: { [path]: sentence } });
}

/** The paths of the fields in which two profiles differ. */
export function changedFields(before: Profile, after: Profile): string[] {
  const fields = Object.keys(PATHS) as (keyof Profile)[];
  return fields.filter(field => before[field] !== after[field]).map(field => PATHS[field]);
}
