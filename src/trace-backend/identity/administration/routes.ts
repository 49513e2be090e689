import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { idOf, listAnswer, pageOf, pathIdOf, queryIdsOf } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import type { Mails } from '../mails/mails.ts';
import { requiredFactor } from '../second-factor/factor.ts';
import type { Endings } from '../sessions/endings.ts';
import { findUser, listUsers, SORTABLE } from '../users/store.ts';
import { asItem, asUser, type UserCompanies } from '../users/user.ts';
import { confirmationLink } from './confirmation-link.ts';
import { execute } from './execute.ts';
import { updateUserProfile } from './profile.ts';
import {
  confirmationLinkSchema,
  executeUserSchema,
  getUserSchema,
  listUsersSchema,
  updateUserSchema,
} from './schemas.ts';

export interface AdministrationContext {
  pool: pg.Pool;
  mails: Mails;
  endings: Endings;
  lists: Lists;
  companiesOf: (userId: number) => Promise<UserCompanies>;
  /** the members of a user's active companies */
  colleaguesOf: (userId: number) => Promise<number[]>;
}

export function registerAdministration(app: Server, context: AdministrationContext): void {
  const { pool, companiesOf } = context;

  app.post(
    '/api/user/admin/execute/:action',
    { config: { access: 'regional-admin' }, schema: executeUserSchema },
    async request => {
      const user = await execute(context, requesterOf(request), request.params.action, idOf(request.body.id));
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );

  app.post(
    '/api/user/admin/confirmation_link',
    { config: { access: 'regional-admin' }, schema: confirmationLinkSchema },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      return ok(await confirmationLink(context, requesterOf(request), idOf(request.body.id)));
    },
  );

  registerLists(app, context);

  app.put(
    '/api/user/admin/profile',
    { config: { access: 'regional-admin' }, schema: updateUserSchema },
    async request => {
      const user = await updateUserProfile(pool, requesterOf(request), request.body);
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );

  app.get(
    '/api/user/admin/profile/:id',
    { config: { access: 'regional-admin' }, schema: getUserSchema },
    async request => {
      const user = await findUser(pool, pathIdOf(request.params.id));
      if (!user) throw new Problem('user.unknown');
      const answer = asUser(user, await companiesOf(user.id));
      // Only administrators who may remove factors learn which accounts a password alone opens.
      if (callerOf(request).role !== 'SYSTEM_ADMIN') return ok(answer);
      return ok({ ...answer, hasSecondFactor: (await requiredFactor(pool, user.id)) !== undefined });
    },
  );
}

function registerLists(app: Server, { pool, lists, colleaguesOf }: AdministrationContext): void {
  for (const [path, operationId, access, summary] of [
    ['list', 'listUsers', 'user', 'List the users of your companies'],
    ['admin/list', 'listAllUsers', 'regional-admin', 'List all users'],
    [
      'regional-admin/list',
      'listUsersForRegionalAdmin',
      'regional-admin',
      'List all users, for a REGIONAL_ADMIN',
    ],
  ] as const) {
    app.get(
      `/api/user/${path}`,
      { config: { access }, schema: listUsersSchema(operationId, access, summary) },
      async request => {
        const { ids, ...query } = request.query;
        const page = pageOf(query, SORTABLE);
        const { id } = callerOf(request);
        const visibleIds = access === 'user' ? [id, ...(await colleaguesOf(id))] : undefined;
        const { items, count } = await listUsers(
          pool,
          lists,
          { ...query, ids: ids === undefined ? undefined : queryIdsOf(ids) },
          page,
          visibleIds,
        );
        return ok(listAnswer(page, { items: items.map(asItem), count }));
      },
    );
  }
}
