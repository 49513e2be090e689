import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { requesterOf } from '../../access/requester.ts';
import { ok } from '../../contract/envelope.ts';
import { idOf, listAnswer, pageOf, pathIdOf } from '../../contract/schemas.ts';
import type { Lists } from '../../lists/lists.ts';
import type { Mails } from '../mails/mails.ts';
import type { Endings } from '../sessions/endings.ts';
import { findUser, listUsers, SORTABLE } from '../users/store.ts';
import { asUser } from '../users/user.ts';
import { execute } from './execute.ts';
import { executeUserSchema, getUserSchema, listUsersSchema } from './schemas.ts';

export interface AdministrationContext {
  pool: pg.Pool;
  mails: Mails;
  endings: Endings;
  lists: Lists;
  companiesOf: (userId: number) => Promise<number[]>;
}

export function registerAdministration(app: Server, context: AdministrationContext): void {
  const { pool, lists, companiesOf } = context;

  app.post(
    '/api/user/admin/execute/:action',
    {
      config: { access: 'regional-admin' },
      schema: executeUserSchema,
    },
    async request => {
      const user = await execute(context, requesterOf(request), request.params.action, idOf(request.body.id));
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );

  app.get(
    '/api/user/admin/list',
    {
      config: { access: 'regional-admin' },
      schema: listUsersSchema,
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
      schema: getUserSchema,
    },
    async ({ params }) => {
      const user = await findUser(pool, pathIdOf(params.id));
      if (!user) throw new Problem('not_found', 'there is no such user');
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );
}
