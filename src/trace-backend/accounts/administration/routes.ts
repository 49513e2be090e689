import type pg from 'pg';
import { Type } from 'typebox';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { envelope, failureAnswers, ok } from '../../contract/envelope.ts';
import {
  Id,
  idOf,
  listAnswer,
  listOf,
  listQuery,
  NO_NUL,
  PathId,
  pageOf,
  pathIdOf,
} from '../../contract/schemas.ts';
import type { Lists } from '../../lists/lists.ts';
import type { Mails } from '../mails/mails.ts';
import type { Endings } from '../sessions/endings.ts';
import { Role, Status, User } from '../users/schemas.ts';
import { findUser, listUsers, SORTABLE } from '../users/store.ts';
import { asUser } from '../users/user.ts';
import { ACTIONS, execute } from './execute.ts';

const PartOfName = Type.String({
  maxLength: 255,
  pattern: NO_NUL,
  description: 'part of the address or of the name, in either case',
});

export interface AdministrationContext {
  pool: pg.Pool;
  mails: Mails;
  endings: Endings;
  lists: Lists;
  companiesOf: (userId: number) => Promise<number[]>;
}

export function registerAdministration(app: Server, context: AdministrationContext): void {
  const { pool, lists, companiesOf } = context;
  const tags = ['Administration'];

  app.post(
    '/api/user/admin/execute/:action',
    {
      config: { access: 'regional-admin' },
      schema: {
        tags,
        summary: 'Activate, deactivate or promote a user',
        description:
          'The actions about a SYSTEM_ADMIN, and those that make administrators, are for a SYSTEM_ADMIN; nobody does any of them to themself; the last active SYSTEM_ADMIN stays one.',
        params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'what to do' }) }),
        body: Type.Object({ id: Id }),
        response: { 200: envelope(User, 'the user as it is now'), ...failureAnswers(401, 403, 404) },
      },
    },
    async request => {
      const user = await execute(context, request, request.params.action, idOf(request.body.id));
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );

  app.get(
    '/api/user/admin/list',
    {
      config: { access: 'regional-admin' },
      schema: {
        tags,
        summary: 'Users',
        querystring: listQuery(SORTABLE, {
          query: Type.Optional(PartOfName),
          status: Type.Optional(Status),
          role: Type.Optional(Role),
        }),
        response: { 200: envelope(listOf(User), 'a page of users'), ...failureAnswers(401, 403) },
      },
    },
    async ({ query }) => {
      const page = pageOf(query, SORTABLE);
      const { items, count } = await listUsers(pool, lists, query, page);
      const users = await Promise.all(items.map(async user => asUser(user, await companiesOf(user.id))));
      return ok(listAnswer(page, { items: users, count }));
    },
  );

  app.get(
    '/api/user/admin/profile/:id',
    {
      config: { access: 'regional-admin' },
      schema: {
        tags,
        summary: 'A user',
        params: Type.Object({ id: PathId }),
        response: { 200: envelope(User, 'the user'), ...failureAnswers(401, 403, 404) },
      },
    },
    async ({ params }) => {
      const user = await findUser(pool, pathIdOf(params.id));
      if (!user) throw new Problem('not_found', 'there is no such user');
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );
}
