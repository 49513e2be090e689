import type { Server } from '../../platform/http/server.ts';
import { callerOf } from '../access/authentication.ts';
import { requesterOf } from '../access/requester.ts';
import { landingPage } from '../accounts/self-service/landing.ts';
import { ok } from '../contract/envelope.ts';
import { idOf, listAnswer, pageOf, pathIdOf, searchedOf } from '../contract/schemas.ts';
import { versionTag } from '../contract/versions.ts';
import { readableCompany } from './access.ts';
import { answerByToken } from './answer.ts';
import { execute } from './execute.ts';
import { listInvitations } from './invitations-store.ts';
import { type CompaniesContext, changeCompany, createCompany } from './save.ts';
import {
  answerInvitationSchema,
  createCompanySchema,
  executeCompanySchema,
  getCompanySchema,
  INVITATION_SORTABLE,
  listCompaniesSchema,
  listInvitationsSchema,
  SORTABLE,
  updateCompanySchema,
} from './schemas.ts';
import { listCompanies } from './store.ts';
import { asCompany, asItem } from './view.ts';

const INVITATION = '/api/company/invitation';
/** Answers by mailed codes of one address in a quarter of an hour, at most. */
const FEW = { guarded: true, rateLimit: { max: 20, timeWindow: 15 * 60_000 } };

export function registerCompanies(app: Server, context: CompaniesContext): void {
  registerProfiles(app, context);
  registerLists(app, context);
  registerInvitations(app, context);

  app.post(
    '/api/company/execute/:action',
    {
      config: { access: 'user' },
      schema: executeCompanySchema,
    },
    async request =>
      ok({ id: await execute(context, requesterOf(request), request.params.action, request.body) }),
  );
}

function registerProfiles(app: Server, context: CompaniesContext): void {
  const { pool } = context;
  app.post(
    '/api/company/create',
    {
      config: { access: 'user' },
      schema: createCompanySchema,
    },
    async request => ok({ id: await createCompany(context, requesterOf(request), request.body) }),
  );

  app.put(
    '/api/company/profile',
    {
      config: { access: 'user' },
      schema: updateCompanySchema,
    },
    async request => {
      const id = request.body.id == null ? undefined : idOf(request.body.id);
      return ok({ id: await changeCompany(context, requesterOf(request), id, request.body) });
    },
  );

  app.get(
    '/api/company/profile/:id',
    {
      config: { access: 'user' },
      schema: getCompanySchema,
    },
    async (request, reply) => {
      const found = await readableCompany(pool, callerOf(request), pathIdOf(request.params.id));
      reply.header('etag', versionTag(found.company.version)).header('cache-control', 'private, no-cache');
      return ok(await asCompany(pool, found));
    },
  );
}

function registerLists(app: Server, { pool, lists }: CompaniesContext): void {
  for (const [path, operationId, access, summary] of [
    ['/api/company/list', 'listCompanies', 'user', 'The companies that you are a member of'],
    ['/api/company/admin/list', 'listAllCompanies', 'regional-admin', 'All companies'],
  ] as const) {
    app.get(
      path,
      {
        config: { access },
        schema: listCompaniesSchema(operationId, access, summary),
      },
      async request => {
        const { status } = request.query;
        const query = searchedOf(request.query);
        const page = pageOf(request.query, SORTABLE);
        const userId = access === 'user' ? callerOf(request).id : undefined;
        const { items, count } = await listCompanies(pool, lists, { userId, query, status }, page);
        return ok(listAnswer(page, { items: items.map(asItem), count }));
      },
    );
  }
}

/** Invitations to companies, and answers by mailed codes. */
function registerInvitations(app: Server, { pool }: CompaniesContext): void {
  app.get(
    `${INVITATION}/list`,
    {
      config: { access: 'user' },
      schema: listInvitationsSchema,
    },
    async request => {
      const page = pageOf(request.query, INVITATION_SORTABLE);
      const { items, count } = await listInvitations(pool, callerOf(request).id, page);
      const shown = items.map(({ companyId: id, name, role, invitedAt }) => ({
        company: { id, name },
        companyRole: role,
        invitedAt: invitedAt.toISOString(),
      }));
      return ok(listAnswer(page, { items: shown, count }));
    },
  );

  app.post(
    INVITATION,
    {
      config: { access: 'open', ...FEW },
      schema: answerInvitationSchema,
    },
    async request => {
      const { token, answer } = request.body;
      await answerByToken(pool, request, token, answer);
      return { status: 'OK' as const };
    },
  );

  landingPage(app, INVITATION, {
    operationId: 'showCompanyInvitation',
    title: 'A company invites you to act for it',
    tag: 'Company',
    form:
      '<button name="answer" value="ACCEPT">Accept</button> ' +
      '<button name="answer" value="DECLINE">Decline</button>',
  });
}
