import type { Static } from 'typebox';
import type { Database } from '../../platform/postgres/database.ts';
import { findUsers } from '../accounts/users/store.ts';
import { findCountry } from '../countries/countries.ts';
import { findImages } from '../images/store.ts';
import type { CompanyWithUsers } from './access.ts';
import type { Member } from './members-store.ts';
import type { Company as CompanySchema } from './schemas.ts';
import type { Company, ListedCompany } from './store.ts';

/** A company as in answers. */
export async function asCompany(
  database: Database,
  { company, members, invited }: CompanyWithUsers,
): Promise<Static<typeof CompanySchema>> {
  const [[logo], users] = await Promise.all([
    company.logo === null ? [] : findImages(database, [company.logo]),
    findUsers(
      database,
      members.map(({ userId }) => userId),
    ),
  ]);
  const { about, manager, webPage, email } = company;
  const headquarters = headquartersOf(company);
  return {
    ...asItem(company),
    ...present({ about, manager, webPage, email }),
    ...(Object.keys(headquarters).length > 0 && { headquarters }),
    ...(logo && { logo }),
    users: [
      ...users.flatMap((user, index) => {
        if (!user) return [];
        const { id, name, surname, email } = user;
        return { id, name, surname, email, companyRole: (members[index] as Member).role };
      }),
      ...invited.map(({ userId: id, role }) => ({ id, companyRole: role, pending: true as const })),
    ],
  };
}

/** A company in lists. */
export function asItem({ id, status, name, abbreviation }: ListedCompany) {
  return { id, status, name, ...present({ abbreviation }) };
}

function headquartersOf({ address, city, state, zip, countryId }: Company) {
  const country = countryId === null ? undefined : findCountry(countryId);
  return { ...present({ address, city, state, zip }), ...(country && { country }) };
}

/** The fields that are set. */
function present<Field extends string>(fields: Record<Field, string | null>): { [field in Field]?: string } {
  const known = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(known) as { [field in Field]?: string };
}
