import type { Server } from '../../../platform/http/server.ts';
import type { FindKnownNames } from './known-names.ts';
import { listNamesSchema } from './schemas.ts';

/** Names of users, for those who can see them. */
export function registerPeople(app: Server, { findKnownNames }: { findKnownNames: FindKnownNames }): void {
  app.get('/people/names', { schema: listNamesSchema }, async request => {
    const names = await findKnownNames(request, request.query.user_ids.split(','));
    return { users: [...names].map(([user_id, name]) => ({ user_id, name })) };
  });
}
