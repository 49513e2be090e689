import type { Server } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { languageOf } from '../../base/contract/language.ts';
import { idOf, listAnswer, type Page, pageOf, pathIdOf, searchTextOf } from '../../base/contract/schemas.ts';
import { listPage, tagVersion } from '../../base/records/answers.ts';
import { landingPage } from '../../identity/self-service/landing.ts';
import { findConfirmedEmailKey } from '../../identity/users/store.ts';
import { readableCompany } from './access.ts';
import { findPartners, ownsProducts } from './associations/store.ts';
import { execute } from './execute.ts';
import { answerByCode, readByCode } from './invitations/answer-by-code.ts';
import { listInvitations } from './invitations/invitations-store.ts';
import {
  answerInvitationSchema,
  companyNameSchema,
  companyUsersSchema,
  createCompanySchema,
  executeCompanySchema,
  getCompanySchema,
  INVITATION_SORTABLE,
  listCompaniesSchema,
  listCompanyNamesSchema,
  listInvitationsSchema,
  listPartnersSchema,
  MAX_NAMES,
  onboardingStateSchema,
  readInvitationSchema,
  SORTABLE,
  updateCompanySchema,
} from './record/schemas.ts';
import { type CompanySort, listCompanies } from './record/store.ts';
import { type CompaniesContext, changeCompany, createCompany } from './save.ts';
import { asBrief, asCompany, asItem, asUsers } from './view.ts';

const INVITATION = '/api/company/invitation';
/** Rate limit of answers with mailed codes per address. */
const RATE_LIMIT = { guarded: true, rateLimit: { max: 20, timeWindow: 15 * 60_000 } };

export function registerCompanies(app: Server, context: CompaniesContext): void {
  registerProfiles(app, context);
  registerParts(app, context);
  registerLists(app, context);
  registerNames(app, context);
  registerPartners(app, context);
  registerInvitations(app, context);

  app.post(
    '/api/company/execute/:action',
    { config: { access: 'user' }, schema: executeCompanySchema },
    async request =>
      ok({ id: await execute(context, requesterOf(request), request.params.action, request.body) }),
  );
}

function registerProfiles(app: Server, context: CompaniesContext): void {
  const { pool } = context;
  app.post(
    '/api/company/create',
    { config: { access: 'user' }, schema: createCompanySchema },
    async request => ok({ id: await createCompany(context, requesterOf(request), request.body) }),
  );

  app.put(
    '/api/company/profile',
    { config: { access: 'company.changeable' }, schema: updateCompanySchema },
    async request => {
      const id = request.body.id == null ? undefined : idOf(request.body.id);
      return ok({ id: await changeCompany(context, requesterOf(request), id, request.body) });
    },
  );

  app.get(
    '/api/company/profile/:id',
    { config: { access: 'company.member' }, schema: getCompanySchema },
    async (request, reply) => {
      const caller = callerOf(request);
      const found = await readableCompany(pool, caller, pathIdOf(request.params.id));
      tagVersion(reply, found.company.version);
      const language = languageOf({ ...request.headers, ...request.query });
      return ok(await asCompany(pool, { found, caller, language }));
    },
  );
}

/** Parts of a company. */
function registerParts(app: Server, { pool }: CompaniesContext): void {
  const config = { access: 'company.member' } as const;
  app.get('/api/company/profile/:id/name', { config, schema: companyNameSchema }, async request => {
    const { company } = await readableCompany(pool, callerOf(request), pathIdOf(request.params.id));
    return ok(asBrief(company));
  });

  app.get('/api/company/profile/:id/users', { config, schema: companyUsersSchema }, async request =>
    ok(await asUsers(pool, await readableCompany(pool, callerOf(request), pathIdOf(request.params.id)))),
  );

  app.get(
    '/api/company/profile/:id/onboardingState',
    { config, schema: onboardingStateSchema },
    async request => {
      const { company } = await readableCompany(pool, callerOf(request), pathIdOf(request.params.id));
      return ok({
        id: company.id,
        hasCreatedProduct: await ownsProducts(pool, company.id),
        // These records do not exist yet.
        hasCreatedFacility: false,
        hasCreatedProcessingAction: false,
        hasAddedFarmers: false,
      });
    },
  );
}

/** The partners of a company in products. */
function registerPartners(app: Server, { pool, lists }: CompaniesContext): void {
  for (const [path, operationId, role, summary] of [
    [
      '/api/company/:id/connected-companies',
      'listConnectedCompanies',
      undefined,
      'List companies that are associated with the same products',
    ],
    [
      '/api/company/associations/:id',
      'listAssociations',
      'ASSOCIATION',
      'The associations of the products that a company is associated with',
    ],
  ] as const) {
    app.get(
      path,
      { config: { access: 'company.member' }, schema: listPartnersSchema(operationId, summary) },
      async request => {
        const { company } = await readableCompany(pool, callerOf(request), pathIdOf(request.params.id));
        const ids = await findPartners(pool, company.id, role);
        const find = (page: Page<CompanySort>) => listCompanies(pool, lists, { ids }, page);
        return ok(await listPage(request.query, SORTABLE, find, items => items.map(asItem)));
      },
    );
  }
}

function registerLists(app: Server, { pool, lists }: CompaniesContext): void {
  for (const [path, operationId, access, summary] of [
    ['/api/company/list', 'listCompanies', 'user', 'List your companies'],
    ['/api/company/admin/list', 'listAllCompanies', 'regional-admin', 'List all companies'],
  ] as const) {
    app.get(
      path,
      { config: { access }, schema: listCompaniesSchema(operationId, access, summary) },
      async request => {
        const { status } = request.query;
        const userId = access === 'user' ? callerOf(request).id : undefined;
        const filter = { userId, query: searchTextOf(request.query), status };
        const find = (page: Page<CompanySort>) => listCompanies(pool, lists, filter, page);
        return ok(await listPage(request.query, SORTABLE, find, items => items.map(asItem)));
      },
    );
  }
}

/** The names of active companies, for choosing partners. They are no secret: products show them, too. */
function registerNames(app: Server, { pool, lists }: CompaniesContext): void {
  app.get(
    '/api/company/names',
    { config: { access: 'user' }, schema: listCompanyNamesSchema },
    async ({ query: { name, limit = MAX_NAMES } }) => {
      const page = { limit, offset: 0, sortBy: 'name', sort: 'ASC', requestType: 'FETCH' } as const;
      const { items } = await listCompanies(pool, lists, { query: name, status: 'ACTIVE' }, page);
      return ok(items.map(({ id, name }) => ({ id, name })));
    },
  );
}

/** Invitations to companies, and answers by mailed codes. */
function registerInvitations(app: Server, context: CompaniesContext): void {
  const { pool, mails } = context;
  app.get(
    `${INVITATION}/list`,
    { config: { access: 'user' }, schema: listInvitationsSchema },
    async request => {
      const page = pageOf(request.query, INVITATION_SORTABLE);
      const userId = callerOf(request).id;
      const emailKey = await findConfirmedEmailKey(pool, userId);
      const { items, count } = await listInvitations(pool, { userId, emailKey }, page);
      const invitations = items.map(({ companyId: id, name, role, invitedAt, byAddress }) => ({
        company: { id, name },
        companyRole: role,
        invitedAt: invitedAt.toISOString(),
        ...(byAddress && mails.areSent && { needsCode: true }),
      }));
      return ok(listAnswer(page, { items: invitations, count }));
    },
  );

  app.post(
    INVITATION,
    { config: { access: 'open', ...RATE_LIMIT }, schema: answerInvitationSchema },
    async request => {
      await answerByCode(context, request, request.body);
      return { status: 'OK' as const };
    },
  );

  app.get(
    `${INVITATION}/:token/company`,
    { config: { access: 'open', ...RATE_LIMIT }, schema: readInvitationSchema },
    async ({ params }, reply) => {
      reply.header('cache-control', 'no-store');
      return ok(await readByCode(pool, params.token));
    },
  );

  landingPage(app, INVITATION, {
    operationId: 'showCompanyInvitation',
    title: 'Answer an invitation to a company',
    tag: 'Company',
    form:
      '<label>Password of the account, unless its address is confirmed <input type="password" name="password" ' +
      'maxlength="1024" autocomplete="current-password"></label>' +
      '<button name="answer" value="ACCEPT">Accept</button> ' +
      '<button name="answer" value="DECLINE">Decline</button>',
  });
}
