import type { Static } from 'typebox';
import type { Database } from '../../../platform/database/database.ts';
import type { Caller } from '../../base/access/authentication.ts';
import type { Language } from '../../base/contract/language.ts';
import { findCountry } from '../../base/countries/countries.ts';
import { findUsers } from '../../identity/users/store.ts';
import { asItem as asUserItem } from '../../identity/users/user.ts';
import { findCurrency } from '../currency/store.ts';
import { findImages, type Image } from '../images/store.ts';
import { type CompanyWithUsers, roleIn } from './access.ts';
import { findRoles } from './associations/store.ts';
import type { Member } from './members/members-store.ts';
import { filesOf } from './record/entries.ts';
import { ADDRESS_FIELDS, BRIEF, type FieldName, fieldsOf, WHOLE } from './record/fields.ts';
import type { BriefProfile, WholeProfile } from './record/profile-schemas.ts';
import type { CompanyItem, Company as CompanySchema, CompanyUser, USER_ACTIONS } from './record/schemas.ts';
import type { Company, ListedCompany } from './record/store.ts';
import { valueChainsOf } from './record/value-chains.ts';

/** A company with its users, and the actions of the reader. */
export async function asCompany(
  database: Database,
  { found, caller, language }: { found: CompanyWithUsers; caller: Caller; language: Language },
): Promise<Static<typeof CompanySchema>> {
  const { company } = found;
  const [profile, users, companyRoles] = await Promise.all([
    asProfile(database, company, language),
    asUsers(database, found),
    findRoles(database, company.id),
  ]);
  return {
    ...profile,
    status: company.status,
    actions: actionsOf(found, caller),
    users,
    companyRoles,
    // Facilities do not exist yet.
    supportsCollectors: false,
  };
}

/** The members of a company, and its invitations: of users only with id and role, of addresses with address and role. */
export async function asUsers(
  database: Database,
  { members, invited, addresses }: Pick<CompanyWithUsers, 'members' | 'invited' | 'addresses'>,
): Promise<Static<typeof CompanyUser>[]> {
  const users = await findUsers(
    database,
    members.map(({ userId }) => userId),
  );
  return [
    ...users.flatMap((user, index) =>
      user ? { ...asUserItem(user), companyRole: (members[index] as Member).role } : [],
    ),
    ...invited.map(({ userId: id, role }) => ({ id, companyRole: role, pending: true as const })),
    ...addresses.map(({ email, role }) => ({ email, companyRole: role, pending: true as const })),
  ];
}

function actionsOf(
  { company, members }: CompanyWithUsers,
  { id, role }: Caller,
): (typeof USER_ACTIONS)[number][] {
  const isAdmin = role === 'SYSTEM_ADMIN';
  const manages = isAdmin || (company.status === 'ACTIVE' && roleIn(members, id) === 'COMPANY_ADMIN');
  return [
    'VIEW_COMPANY_PROFILE',
    ...(manages
      ? ([
          'UPDATE_COMPANY_PROFILE',
          'ADD_USER_TO_COMPANY',
          'SET_USER_COMPANY_ROLE',
          'REMOVE_USER_FROM_COMPANY',
        ] as const)
      : []),
    ...(isAdmin
      ? ([
          company.status === 'ACTIVE' ? 'DEACTIVATE_COMPANY' : 'ACTIVATE_COMPANY',
          'MERGE_TO_COMPANY',
        ] as const)
      : []),
  ];
}

/** The whole profile of a company, without its users. */
export async function asProfile(
  database: Database,
  company: Company,
  language: Language,
): Promise<Static<typeof WholeProfile>> {
  const { documents, certifications } = company;
  const keys = filesOf(company).map(({ storageKey }) => storageKey);
  const [images, valueChains, currency] = await Promise.all([
    findImages(database, keys),
    valueChainsOf(database, company, language),
    company.currency === null ? undefined : findCurrency(database, company.currency),
  ]);
  const file = <Field extends string>(field: Field, key: string | null | undefined) => {
    const image = images.find(({ storageKey }) => storageKey === key);
    return (image ? { [field]: described(image) } : {}) as { [name in Field]?: ReturnType<typeof described> };
  };
  return {
    ...asBrief(company),
    ...plainOf(company, WHOLE),
    ...file('logo', company.logo),
    documents: documents.map(({ document, ...rest }) => ({ ...rest, ...file('document', document) })),
    certifications: certifications.map(({ certificate, ...rest }) => ({
      ...rest,
      ...file('certificate', certificate),
    })),
    valueChains,
    ...(currency && { currency }),
  };
}

/** The profile of a company without files, value chains and currency. */
export function asBrief(company: Company): Static<typeof BriefProfile> {
  const { id, name, mediaLinks } = company;
  const headquarters = headquartersOf(company);
  return {
    id,
    name,
    ...plainOf(company, BRIEF),
    ...(Object.keys(headquarters).length > 0 && { headquarters }),
    mediaLinks,
  };
}

/** The set fields among these that are shown as they are stored. */
function plainOf<Names extends FieldName>(company: Company, names: readonly Names[]) {
  const plain = PLAIN.filter(name => names.some(each => each === name));
  const values = Object.fromEntries(plain.map(name => [name, company[name]]));
  return present(values as Pick<Company, Names & (typeof PLAIN)[number]>);
}

const PLAIN = fieldsOf('text', 'url', 'email', 'flag');

/** A company in lists. */
export function asItem({
  id,
  status,
  name,
  abbreviation,
  logo: logoStorageKey,
}: ListedCompany): Static<typeof CompanyItem> {
  return { id, status, name, ...present({ abbreviation, logoStorageKey }) };
}

function headquartersOf(company: Company) {
  const texts = Object.fromEntries(ADDRESS_FIELDS.map(field => [field, company[field]]));
  const country = company.countryId === null ? undefined : findCountry(company.countryId);
  return { ...present(texts as Pick<Company, (typeof ADDRESS_FIELDS)[number]>), ...(country && { country }) };
}

function described({ id, storageKey, name, contentType, size }: Image) {
  return { id, storageKey, name, contentType, size };
}

type Present<Fields> = {
  [Field in keyof Fields as null extends Fields[Field] ? never : Field]: Fields[Field];
} & {
  [Field in keyof Fields as null extends Fields[Field] ? Field : never]?: NonNullable<Fields[Field]>;
};

/** The fields that are not null. */
function present<Fields extends object>(fields: Fields): Present<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as Present<Fields>;
}
