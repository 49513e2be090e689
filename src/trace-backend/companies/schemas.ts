import { type Static, Type } from 'typebox';
import { MailToken } from '../accounts/users/schemas.ts';
import { Done, envelope, failureAnswers } from '../contract/envelope.ts';
import { DateTime, Id, listOf, listQuery, PathId, searchFilters } from '../contract/schemas.ts';
import { nullable, text } from '../contract/shapes.ts';
import { IfMatch } from '../contract/versions.ts';
import { Country } from '../countries/schemas.ts';
import { COMPANY_ROLES } from './members-store.ts';

export const STATUSES = ['ACTIVE', 'DEACTIVATED'] as const;
export type Status = (typeof STATUSES)[number];

/** The actions on companies and their users; the first two only for a SYSTEM_ADMIN. */
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
    Type.Integer({ title: 'a whole number', description: '1 to 249' }),
    Type.String({ maxLength: 10, title: 'a whole number or an ISO 3166-1 alpha-2 code as a string' }),
  ],
  { description: 'from GET /api/common/countries, or an alpha-2 code', examples: ['184', 184, 'RW'] },
);

const CountryReference = Type.Object(
  {
    id: nullable(CountryId),
    code: nullable(Type.String({ maxLength: 10, description: 'instead of the id' })),
  },
  { description: 'by its id or its code' },
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
      { description: 'an uploaded image' },
    ),
  ),
};

export const NewCompany = Type.Object({ name: Name, ...fields });
export const CompanyUpdate = Type.Object({ id: nullable(Id), name: Type.Optional(Name), ...fields });
export type CompanyBody = Omit<Static<typeof CompanyUpdate>, 'id'>;

export const CompanyRole = Type.Enum([...COMPANY_ROLES], { description: 'role of a user in the company' });

/** An invitation for the invited user. */
export const Invitation = Type.Object({
  company: Type.Object({ id: Type.Integer({ examples: [3] }), name: Type.String({ examples: ['Kopanyi'] }) }),
  companyRole: CompanyRole,
  invitedAt: DateTime,
});

export const CompanyAction = Type.Object({
  companyId: Id,
  userId: Type.Optional({ ...Id, description: 'required by the actions on a user' } as typeof Id),
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

/** A company in lists. */
export const CompanyItem = Type.Object({
  id: Type.Integer({ examples: [3] }),
  status: CompanyStatus,
  name: Type.String({ examples: ['Kopanyi'] }),
  abbreviation: word('KOP'),
});

/** A company with all its fields; unset ones are absent. */
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
          description: 'was invited and has not accepted; then only id and role are present',
        }),
      ),
    }),
    { description: 'its members and invited users' },
  ),
});

const tags = ['Company'];

const Identified = envelope(Type.Object({ id: Type.Integer({ examples: [3] }) }), 'the id of the company');

export const INVITATION_SORTABLE = ['invitedAt'] as const;

export const executeCompanySchema = {
  operationId: 'executeCompanyAction',
  tags,
  summary: 'Activate or deactivate a company, change its users, or answer an invitation',
  description:
    'The first two are for a SYSTEM_ADMIN; the next three also for a COMPANY_ADMIN of the company, while it is ' +
    'active; the last two for invited users. A user added by a COMPANY_ADMIN is invited, also by mail, and becomes a member of ' +
    'the company once they accept: 20 invitations an hour and sender, and 500 users of a company, those who are invited included. A SYSTEM_ADMIN adds without asking. ' +
    'Everyone can remove themselves. A company always keeps one COMPANY_ADMIN.',
  params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'the action' }) }),
  body: CompanyAction,
  response: { 200: Identified, ...failureAnswers(401, 403, 404) },
};

export const createCompanySchema = {
  operationId: 'createCompany',
  tags,
  summary: 'Add a company',
  description: 'It is active at once. You become its COMPANY_ADMIN.',
  body: {
    ...NewCompany,
    examples: [{ name: 'Growers of Kibogora', headquarters: { city: 'Nyamasheke', country: { id: 'RW' } } }],
  },
  response: { 200: Identified, ...failureAnswers(401) },
};

export const updateCompanySchema = {
  operationId: 'updateCompany',
  tags,
  summary: 'Change a company',
  description:
    'The one with this id; without an id, the only one whose COMPANY_ADMIN you are. Omitted fields stay unchanged, in ' +
    'the company and in its headquarters; null clears a field.',
  headers: IfMatch,
  body: CompanyUpdate,
  response: { 200: Identified, ...failureAnswers(401, 403, 404, 412) },
};

export const getCompanySchema = {
  operationId: 'getCompany',
  tags,
  summary: 'A company and its users',
  description:
    'For its members and for administrators. The ETag is the version; send it as If-Match with a change.',
  params: Type.Object({ id: PathId }),
  response: { 200: envelope(Company, 'the company'), ...failureAnswers(401, 404) },
};

/** Fields that lists can be sorted by. */
export const SORTABLE = ['id', 'name', 'status'] as const;

export const listCompaniesSchema = (
  operationId: string,
  access: 'user' | 'regional-admin',
  summary: string,
) => ({
  operationId,
  tags,
  summary,
  querystring: listQuery(SORTABLE, {
    ...searchFilters('part of the name or of the abbreviation; case is ignored'),
    status: Type.Optional(CompanyStatus),
  }),
  response: {
    200: envelope(listOf(CompanyItem), 'a page of companies'),
    ...(access === 'user' ? failureAnswers(401) : failureAnswers(401, 403)),
  },
});

export const listInvitationsSchema = {
  operationId: 'listCompanyInvitations',
  tags,
  summary: 'Your invitations to companies',
  description:
    'Answer with POST /api/company/execute/ACCEPT_INVITATION or DECLINE_INVITATION and the companyId. Until you ' +
    'accept, the company does not see your name or address, and neither side has any rights.',
  querystring: listQuery(INVITATION_SORTABLE, {}),
  response: { 200: envelope(listOf(Invitation), 'a page of invitations'), ...failureAnswers(401) },
};

export const ANSWERS = ['ACCEPT', 'DECLINE'] as const;
export type Answer = (typeof ANSWERS)[number];

export const answerInvitationSchema = {
  operationId: 'answerCompanyInvitation',
  tags,
  summary: 'Answer an invitation by its mailed code',
  body: Type.Object({
    token: MailToken,
    answer: Type.Enum([...ANSWERS], { description: 'whether to accept' }),
  }),
  response: { 200: Done, ...failureAnswers() },
};
