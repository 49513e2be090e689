import { Type } from 'typebox';
import type { Server } from '../../platform/http/server.ts';
import { callerOf } from '../access/authentication.ts';
import { landingPage } from '../accounts/self-service/landing.ts';
import { MailToken } from '../accounts/users/schemas.ts';
import { Done, envelope, failureAnswers, ok } from '../contract/envelope.ts';
import {
  idOf,
  listAnswer,
  listOf,
  listQuery,
  NO_NUL,
  PathId,
  pageOf,
  pathIdOf,
} from '../contract/schemas.ts';
import { IfMatch, versionTag } from '../contract/versions.ts';
import { readableCompany } from './access.ts';
import { ANSWERS, answerByToken } from './answer.ts';
import { execute } from './execute.ts';
import { listInvitations } from './invitations-store.ts';
import { type CompaniesContext, changeCompany, createCompany } from './save.ts';
import {
  ACTIONS,
  Company,
  CompanyAction,
  CompanyItem,
  CompanyStatus,
  CompanyUpdate,
  Invitation,
  NewCompany,
} from './schemas.ts';
import { listCompanies, SORTABLE } from './store.ts';
import { asCompany, asItem } from './view.ts';

const tags = ['Company'];
const INVITATION = '/api/company/invitation';
const INVITATION_SORTABLE = ['invitedAt'] as const;
/** Answers by mailed codes of one address in a quarter of an hour, at most. */
const FEW = { rateLimit: { max: 20, timeWindow: 15 * 60_000 } };

const Identified = envelope(Type.Object({ id: Type.Integer({ examples: [3] }) }), 'the id of the company');

export function registerCompanies(app: Server, context: CompaniesContext): void {
  registerProfiles(app, context);
  registerLists(app, context);
  registerInvitations(app, context);

  app.post(
    '/api/company/execute/:action',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Activate or deactivate a company, change who acts for it, or answer an invitation',
        description:
          'The first two are for a SYSTEM_ADMIN; the next three also for a COMPANY_ADMIN of the company, while it is ' +
          'active; the last two for who is invited. Whom a COMPANY_ADMIN adds is invited, by mail too, and acts for ' +
          'the company once they accept: 20 invitations an hour and sender. A SYSTEM_ADMIN adds without asking. ' +
          'Anyone may remove themselves. A company always keeps one COMPANY_ADMIN.',
        params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'what to do' }) }),
        body: CompanyAction,
        response: { 200: Identified, ...failureAnswers(401, 403, 404) },
      },
    },
    async request => ok({ id: await execute(context, request, request.params.action, request.body) }),
  );
}

function registerProfiles(app: Server, context: CompaniesContext): void {
  const { pool } = context;
  app.post(
    '/api/company/create',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Add a company',
        description: 'It is active at once. You become its COMPANY_ADMIN.',
        body: NewCompany,
        response: { 200: Identified, ...failureAnswers(401) },
      },
    },
    async request => ok({ id: await createCompany(context, request, request.body) }),
  );

  app.put(
    '/api/company/profile',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Change a company',
        description:
          'The one with this id; without an id, the only one whose COMPANY_ADMIN you are. What is left out stays, in ' +
          'the company and in its headquarters; null clears.',
        headers: IfMatch,
        body: CompanyUpdate,
        response: { 200: Identified, ...failureAnswers(401, 403, 404, 412) },
      },
    },
    async request => {
      const id = request.body.id == null ? undefined : idOf(request.body.id);
      return ok({ id: await changeCompany(context, request, id, request.body) });
    },
  );

  app.get(
    '/api/company/profile/:id',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'A company, and who acts for it',
        description:
          'For its members and for administrators. Its ETag is its version; send it as If-Match with a change.',
        params: Type.Object({ id: PathId }),
        response: { 200: envelope(Company, 'the company'), ...failureAnswers(401, 404) },
      },
    },
    async (request, reply) => {
      const staffed = await readableCompany(pool, callerOf(request), pathIdOf(request.params.id));
      reply.header('etag', versionTag(staffed.company.version)).header('cache-control', 'private, no-cache');
      return ok(await asCompany(pool, staffed));
    },
  );
}

function registerLists(app: Server, { pool, lists }: CompaniesContext): void {
  for (const [path, access, summary] of [
    ['/api/company/list', 'user', 'The companies that you are a member of'],
    ['/api/company/admin/list', 'regional-admin', 'All companies'],
  ] as const) {
    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          summary,
          querystring: listQuery(SORTABLE, {
            query: Type.Optional(
              Type.String({
                maxLength: 255,
                pattern: NO_NUL,
                description: 'part of the name or of the abbreviation, in either case',
              }),
            ),
            status: Type.Optional(CompanyStatus),
          }),
          response: {
            200: envelope(listOf(CompanyItem), 'a page of companies'),
            ...(access === 'user' ? failureAnswers(401) : failureAnswers(401, 403)),
          },
        },
      },
      async request => {
        const { query, status } = request.query;
        const page = pageOf(request.query, SORTABLE);
        const userId = access === 'user' ? callerOf(request).id : undefined;
        const { items, count } = await listCompanies(pool, lists, { userId, query, status }, page);
        return ok(listAnswer(page, { items: items.map(asItem), count }));
      },
    );
  }
}

/** What users are invited to, and the answers of those who got a mail. */
function registerInvitations(app: Server, { pool }: CompaniesContext): void {
  app.get(
    `${INVITATION}/list`,
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'The companies that ask you to act for them',
        description:
          'Answer with POST /api/company/execute/ACCEPT_INVITATION or DECLINE_INVITATION and the companyId. Until you ' +
          'accept, the company does not see your name or address, and neither side has any right.',
        querystring: listQuery(INVITATION_SORTABLE, {}),
        response: { 200: envelope(listOf(Invitation), 'a page of invitations'), ...failureAnswers(401) },
      },
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
      schema: {
        tags,
        summary: 'Answer an invitation by the code mailed for it',
        body: Type.Object({
          token: MailToken,
          answer: Type.Enum([...ANSWERS], { description: 'whether to act for the company' }),
        }),
        response: { 200: Done, ...failureAnswers() },
      },
    },
    async request => {
      const { token, answer } = request.body;
      await answerByToken(pool, request, token, answer);
      return { status: 'OK' as const };
    },
  );

  landingPage(app, INVITATION, {
    title: 'A company invites you to act for it',
    tag: 'Company',
    form:
      '<button name="answer" value="ACCEPT">Accept</button> ' +
      '<button name="answer" value="DECLINE">Decline</button>',
  });
}
