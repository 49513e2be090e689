import { Type } from 'typebox';
import type { Server } from '../../platform/http/server.ts';
import { callerOf } from '../access/authentication.ts';
import { envelope, failureAnswers, ok } from '../contract/envelope.ts';
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
import { execute } from './execute.ts';
import { type CompaniesContext, changeCompany, createCompany } from './save.ts';
import {
  ACTIONS,
  Company,
  CompanyAction,
  CompanyItem,
  CompanyStatus,
  CompanyUpdate,
  NewCompany,
} from './schemas.ts';
import { listCompanies, SORTABLE } from './store.ts';
import { asCompany, asItem } from './view.ts';

const tags = ['Company'];
const Identified = envelope(Type.Object({ id: Type.Integer({ examples: [3] }) }), 'the id of the company');

export function registerCompanies(app: Server, context: CompaniesContext): void {
  registerProfiles(app, context);
  registerLists(app, context);

  app.post(
    '/api/company/execute/:action',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Activate or deactivate a company, or change who acts for it',
        description:
          'The first two are for a SYSTEM_ADMIN; the others also for a COMPANY_ADMIN of the company, while it is ' +
          'active. A company always keeps one COMPANY_ADMIN.',
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
