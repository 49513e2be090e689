import { type Static, Type } from 'typebox';
import { DateTime, Id } from '../contract/schemas.ts';
import { nullable, text } from '../contract/shapes.ts';
import { Country } from '../countries/schemas.ts';
import { COMPANY_ROLES } from './members-store.ts';

export const STATUSES = ['ACTIVE', 'DEACTIVATED'] as const;
export type Status = (typeof STATUSES)[number];

/** What is done to companies and their users; the first two by a SYSTEM_ADMIN alone. */
export const ACTIONS = [
  'ACTIVATE_COMPANY',
  'DEACTIVATE_COMPANY',
  'ADD_USER_TO_COMPANY',
  'SET_USER_COMPANY_ROLE',
  'REMOVE_USER_FROM_COMPANY',
  'ACCEPT_INVITATION',
  'DECLINE_INVITATION',
] as const;
export type Action = (typeof ACTIONS)[number];

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', examples: ['Kopanyi'] });

const CountryId = Type.Union(
  [
    Type.Integer({ title: 'a whole number' }),
    Type.String({ maxLength: 10, title: 'a whole number or an ISO 3166-1 alpha-2 code as a string' }),
  ],
  { description: 'from GET /api/common/countries, or an alpha-2 code', examples: ['184', 184, 'RW'] },
);

const CountryReference = Type.Object(
  {
    id: nullable(CountryId),
    code: nullable(Type.String({ maxLength: 10, description: 'instead of the id' })),
  },
  { description: 'named by its id, or by its code' },
);

const Headquarters = Type.Object({
  address: text(255),
  city: text(255),
  state: text(255),
  zip: text(50),
  country: nullable(CountryReference),
});

const fields = {
  abbreviation: text(255),
  headquarters: nullable(Headquarters),
  about: text(2000),
  manager: text(255),
  webPage: text(255),
  email: nullable(Type.String({ maxLength: 255, description: 'e-mail address; may be empty' })),
  logo: nullable(
    Type.Object(
      { storageKey: Type.String({ maxLength: 100, examples: ['4f8a2c1e-9b7d-4e55-8a3f-0c6d1b2e7f90'] }) },
      { description: 'an image that was uploaded' },
    ),
  ),
};

export const NewCompany = Type.Object({ name: Name, ...fields });
export const CompanyUpdate = Type.Object({ id: nullable(Id), name: Type.Optional(Name), ...fields });
export type CompanyBody = Omit<Static<typeof CompanyUpdate>, 'id'>;

export const CompanyRole = Type.Enum([...COMPANY_ROLES], { description: 'what a user is in the company' });

/** An invitation as the user reads it who is invited. */
export const Invitation = Type.Object({
  company: Type.Object({ id: Type.Integer({ examples: [3] }), name: Type.String({ examples: ['Kopanyi'] }) }),
  companyRole: CompanyRole,
  invitedAt: DateTime,
});

export const CompanyAction = Type.Object({
  companyId: Id,
  userId: Type.Optional({ ...Id, description: 'needed by the actions about a user' } as typeof Id),
  companyUserRole: Type.Optional(CompanyRole),
});

const Logo = Type.Object({
  id: Type.Integer(),
  storageKey: Type.String(),
  name: Type.String(),
  contentType: Type.String(),
  size: Type.Integer(),
});

export const CompanyStatus = Type.Enum([...STATUSES]);
const word = (example: string) => Type.Optional(Type.String({ examples: [example] }));

/** A company as lists show it. */
export const CompanyItem = Type.Object({
  id: Type.Integer({ examples: [3] }),
  status: CompanyStatus,
  name: Type.String({ examples: ['Kopanyi'] }),
  abbreviation: word('KOP'),
});

/** A company with everything that is known of it; what was never given is absent. */
export const Company = Type.Object({
  ...CompanyItem.properties,
  about: word('Washing stations around the lake'),
  manager: word('Ana Uwase'),
  webPage: word('https://kopanyi.example'),
  email: word('info@kopanyi.example'),
  headquarters: Type.Optional(
    Type.Object({
      address: word('KN 3 Ave'),
      city: word('Kigali'),
      state: word('Kigali'),
      zip: word('00000'),
      country: Type.Optional(Country),
    }),
  ),
  logo: Type.Optional(Logo),
  users: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.Optional(Type.String()),
      surname: Type.Optional(Type.String()),
      email: Type.Optional(Type.String()),
      companyRole: CompanyRole,
      pending: Type.Optional(
        Type.Literal(true, {
          description: 'was invited and has not accepted; then id and role are all there is',
        }),
      ),
    }),
    { description: 'who acts for it, and who was asked to' },
  ),
});
