import type { Static } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../../base/contract/envelope.ts';
import { LANGUAGES, LanguageHeader, QueryLanguage } from '../../../base/contract/language.ts';
import {
  DateTime,
  Id,
  listOf,
  listQuery,
  NO_NUL,
  PathId,
  searchFilters,
} from '../../../base/contract/schemas.ts';
import { nullable } from '../../../base/contract/shapes.ts';
import { IfMatch } from '../../../base/contract/versions.ts';
import {
  CurrentPassword,
  Email,
  MailToken,
  Role,
  Status as UserStatus,
} from '../../../identity/users/schemas.ts';
import { COMPANY_ROLES } from '../members/members-store.ts';
import { COMPANY_TYPES } from './company-types.ts';
import { BriefProfile, profileFields, WholeProfile } from './profile-schemas.ts';

export const STATUSES = ['ACTIVE', 'DEACTIVATED'] as const;
export type Status = (typeof STATUSES)[number];

/** The values of the filter `status`. No company has REGISTERED, because companies are active from the start. */
export const FILTER_STATUSES = ['REGISTERED', ...STATUSES] as const;

/** The actions on companies and their users; the first three only for a SYSTEM_ADMIN. */
export const ACTIONS = [
  'ACTIVATE_COMPANY',
  'DEACTIVATE_COMPANY',
  'MERGE_TO_COMPANY',
  'ADD_USER_TO_COMPANY',
  'SET_USER_COMPANY_ROLE',
  'REMOVE_USER_FROM_COMPANY',
  'ACCEPT_INVITATION',
  'DECLINE_INVITATION',
] as const;
export type Action = (typeof ACTIONS)[number];

/** The actions that a user may be allowed on a company. */
export const USER_ACTIONS = [
  'VIEW_COMPANY_PROFILE',
  'UPDATE_COMPANY_PROFILE',
  'ACTIVATE_COMPANY',
  'DEACTIVATE_COMPANY',
  'ADD_USER_TO_COMPANY',
  'SET_USER_COMPANY_ROLE',
  'REMOVE_USER_FROM_COMPANY',
  'MERGE_TO_COMPANY',
] as const;

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', examples: ['Kopanyi'] });

export const NewCompany = named('NewCompany', Type.Object({ name: Name, ...profileFields }));
const CompanyUpdate = named(
  'CompanyUpdate',
  Type.Object({ id: nullable(Id), name: Type.Optional(Name), ...profileFields }),
);
export type CompanyBody = Omit<Static<typeof CompanyUpdate>, 'id'>;

export const CompanyRole = Type.Enum([...COMPANY_ROLES], { description: "the user's role in the company" });

/** The company and role of an invitation. */
const invited = {
  company: Type.Object({
    id: Type.Integer({ examples: [3] }),
    name: Type.String({ examples: ['Kopanyi'] }),
  }),
  companyRole: CompanyRole,
};

/** An invitation for the invited user. */
export const Invitation = named(
  'Invitation',
  Type.Object({
    ...invited,
    invitedAt: DateTime,
    needsCode: Type.Optional(
      Type.Boolean({
        description:
          'true if accepting needs the code in the email, because the address was invited; otherwise absent',
      }),
    ),
  }),
);

export const CompanyAction = named(
  'CompanyAction',
  Type.Object({
    companyId: Id,
    userId: Type.Optional({
      ...Id,
      description: 'the affected user, for actions on users; not with email',
    } as typeof Id),
    email: Type.Optional({
      ...Email,
      description: 'email address of a member or of a person to invite; replaces userId',
    } as typeof Email),
    otherCompanyId: Type.Optional({ ...Id, description: 'required by MERGE_TO_COMPANY' } as typeof Id),
    companyUserRole: Type.Optional(CompanyRole),
  }),
);

export const CompanyStatus = Type.Enum([...STATUSES]);
/** A company in lists. */
export const CompanyItem = named(
  'CompanyItem',
  Type.Object({
    id: Type.Integer({ examples: [3] }),
    status: CompanyStatus,
    name: Type.String({ examples: ['Kopanyi'] }),
    abbreviation: Type.Optional(Type.String({ examples: ['KOP'] })),
    logoStorageKey: Type.Optional(Type.String({ description: 'storage key of the logo' })),
  }),
);

/** A user of a company. */
export const CompanyUser = named(
  'CompanyUser',
  Type.Object({
    id: Type.Optional(Type.Integer({ description: 'absent if an email address was invited' })),
    name: Type.Optional(Type.String()),
    surname: Type.Optional(Type.String()),
    email: Type.Optional(Type.String()),
    status: Type.Optional(UserStatus),
    role: Type.Optional(Role),
    language: Type.Optional(Type.Enum([...LANGUAGES])),
    companyRole: CompanyRole,
    pending: Type.Optional(
      Type.Literal(true, {
        description:
          'invited, but not accepted yet; then only the role is present, and the id or email that was invited',
      }),
    ),
  }),
);

/** A company with all its fields; unset ones are absent. */
export const Company = named(
  'Company',
  Type.Object({
    ...WholeProfile.properties,
    status: CompanyStatus,
    actions: Type.Array(Type.Enum([...USER_ACTIONS]), { description: 'your permissions' }),
    users: Type.Array(CompanyUser, { description: 'members and invited users' }),
    companyRoles: Type.Array(Type.Enum([...COMPANY_TYPES]), {
      description: 'roles in associated products',
    }),
    supportsCollectors: Type.Boolean({
      description: 'whether a facility of the company buys from collectors',
    }),
  }),
);

const tags = ['Company'];

const Params = Type.Object({ id: PathId });

const Identified = envelope(Type.Object({ id: Type.Integer({ examples: [3] }) }), 'the id of the company');

export const INVITATION_SORTABLE = ['invitedAt'] as const;

/** Fields that lists can be sorted by. */
export const SORTABLE = ['id', 'name', 'status'] as const;

export const executeCompanySchema = {
  operationId: 'executeCompanyAction',
  tags,
  summary: 'Activate, deactivate or merge a company, change its users, or answer an invitation',
  description:
    'The first three actions are for a SYSTEM_ADMIN: MERGE_TO_COMPANY moves the users, products and value chains ' +
    'of a company to otherCompanyId, and deactivates the company. The next three are also for a COMPANY_ADMIN of ' +
    'the company while it is active; the last two are for invited users. A COMPANY_ADMIN adds users by an ' +
    'invitation, which is also emailed; they become members once they accept. Limits: 20 invitations an hour per ' +
    'sender, and 500 users per company, including invited ones. A SYSTEM_ADMIN adds users by userId without an ' +
    'invitation. With email instead of userId, the address is invited, whether or not it has an account; the ' +
    'answer is the same, and the owner of the address accepts or declines, after registering if necessary. Such an invitation ' +
    'expires after 30 days; adding the address again changes the role. An address can be invited 5 times a day ' +
    'by all senders together (429). Users can always remove themselves. A company always keeps one COMPANY_ADMIN.',
  params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'the action' }) }),
  body: CompanyAction,
  response: { 200: Identified, ...failureAnswers(401, 403, 404) },
};

export const createCompanySchema = {
  operationId: 'createCompany',
  tags,
  summary: 'Add a company',
  description: 'The company is active at once, and you become its COMPANY_ADMIN.',
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
    'Changes the company with this id or, without an id, the only company that you are COMPANY_ADMIN of. Null ' +
    'and omitted fields stay unchanged, in the company and in its headquarters; an empty text clears a field.',
  headers: IfMatch,
  body: CompanyUpdate,
  response: { 200: Identified, ...failureAnswers(401, 403, 404, 412) },
};

export const getCompanySchema = {
  operationId: 'getCompany',
  tags,
  summary: 'Get a company and its users',
  description:
    'Only for members and administrators. The ETag is the version; send it as If-Match with a change.',
  params: Params,
  querystring: Type.Object({ language: QueryLanguage }),
  headers: LanguageHeader,
  response: { 200: envelope(Company, 'the company'), ...failureAnswers(401, 404) },
};

export const companyNameSchema = {
  operationId: 'getCompanyName',
  tags,
  summary: 'Get the name and address of a company',
  description: 'Only for members and administrators.',
  params: Params,
  response: { 200: envelope(BriefProfile, 'the company'), ...failureAnswers(401, 404) },
};

export const companyUsersSchema = {
  operationId: 'getCompanyUsers',
  tags,
  summary: 'List the users of a company',
  description: 'Only for members and administrators.',
  params: Params,
  response: {
    200: envelope(Type.Array(CompanyUser), 'members and invited users'),
    ...failureAnswers(401, 404),
  },
};

export const onboardingStateSchema = {
  operationId: 'getCompanyOnboardingState',
  tags,
  summary: 'Get the setup progress of a company',
  description: 'Only for members and administrators.',
  params: Params,
  response: {
    200: envelope(
      Type.Object({
        id: Type.Integer({ examples: [3] }),
        hasCreatedProduct: Type.Boolean(),
        hasCreatedFacility: Type.Boolean(),
        hasCreatedProcessingAction: Type.Boolean(),
        hasAddedFarmers: Type.Boolean(),
      }),
      'the setup progress',
    ),
    ...failureAnswers(401, 404),
  },
};

export const listPartnersSchema = (operationId: string, summary: string) => ({
  operationId,
  tags,
  summary,
  description: 'Only for members and administrators.',
  params: Params,
  querystring: listQuery(SORTABLE, {}),
  response: { 200: envelope(listOf(CompanyItem), 'a page of companies'), ...failureAnswers(401, 404) },
});

export const listCompaniesSchema = (
  operationId: string,
  access: 'user' | 'regional-admin',
  summary: string,
) => ({
  operationId,
  tags,
  summary,
  querystring: listQuery(SORTABLE, {
    ...searchFilters('part of the name or abbreviation; case is ignored'),
    status: Type.Optional(
      Type.Enum([...FILTER_STATUSES], { description: 'no company has the status REGISTERED' }),
    ),
    language: QueryLanguage,
  }),
  response: {
    200: envelope(listOf(CompanyItem), 'a page of companies'),
    ...(access === 'user' ? failureAnswers(401) : failureAnswers(401, 403)),
  },
});

/** Maximum names per answer. */
export const MAX_NAMES = 20;

export const listCompanyNamesSchema = {
  operationId: 'listCompanyNames',
  tags,
  summary: 'Find active companies by name',
  description: 'For forms that refer to another company, such as the partners of a product.',
  querystring: Type.Object({
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: NO_NUL,
      description: 'part of the name or abbreviation; case is ignored',
      examples: ['kop'],
    }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_NAMES,
        default: MAX_NAMES,
        description: 'maximum number of companies',
      }),
    ),
  }),
  response: {
    200: envelope(
      Type.Array(
        Type.Object({
          id: Type.Integer({ examples: [3] }),
          name: Type.String({ examples: ['Kopanyi'] }),
        }),
      ),
      'the companies, by name',
    ),
    ...failureAnswers(401),
  },
};

export const listInvitationsSchema = {
  operationId: 'listCompanyInvitations',
  tags,
  summary: 'List your invitations to companies',
  description:
    'Answer with POST /api/company/execute/ACCEPT_INVITATION or DECLINE_INVITATION and the companyId. Until you ' +
    "accept, the company can't see your name or address, and neither side has any rights. Invitations to your " +
    'email address are listed once you have confirmed it (emailConfirmed); if emails are sent, accepting needs ' +
    'the code in the email.',
  querystring: listQuery(INVITATION_SORTABLE, {}),
  response: { 200: envelope(listOf(Invitation), 'a page of invitations'), ...failureAnswers(401) },
};

/** The requirement for accepting an invitation, in addition to its code. */
const NEEDED = ['NOTHING', 'PASSWORD', 'ACTIVATION', 'ACCOUNT'] as const;
export type Needed = (typeof NEEDED)[number];

export const readInvitationSchema = {
  operationId: 'readCompanyInvitation',
  tags,
  summary: 'Look up an invitation by its mailed code',
  description: 'Changes nothing. Used, expired and unknown codes get the same answer.',
  params: Type.Object({ token: MailToken }),
  response: {
    200: envelope(
      Type.Object({
        ...invited,
        email: Type.String({ description: 'address of the invited user, who becomes a member' }),
        needs: Type.Enum([...NEEDED], {
          description:
            "what accepting needs besides the code: PASSWORD: the account's password, because the owner hasn't confirmed " +
            'the address; ACTIVATION: an administrator must activate the account; ACCOUNT: an account with this address',
        }),
      }),
      'the invitation',
    ),
    ...failureAnswers(),
  },
};

const ANSWERS = ['ACCEPT', 'DECLINE'] as const;
export type Answer = (typeof ANSWERS)[number];

export const answerInvitationSchema = {
  operationId: 'answerCompanyInvitation',
  tags,
  summary: 'Answer an invitation with the mailed code',
  description:
    "The active account with the invited address accepts the invitation. If the owner hasn't confirmed the " +
    "address, the account's password is needed too, and confirms it.",
  body: Type.Object({
    token: MailToken,
    answer: Type.Enum([...ANSWERS], { description: 'whether to accept' }),
    password: Type.Optional({
      ...CurrentPassword,
      description: "the account's password, if the owner hasn't confirmed the address",
    } as typeof CurrentPassword),
  }),
  response: { 200: Done, ...failureAnswers() },
};
