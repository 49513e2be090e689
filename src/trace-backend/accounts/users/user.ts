import type { Static } from 'typebox';
import type { User as UserSchema } from './schemas.ts';
import type { User } from './store.ts';

const ACTIONS = ['VIEW_USER_PROFILE', 'UPDATE_USER_PROFILE', 'CREATE_COMPANY'];

/** A user as in answers. */
export function asUser(user: User, companyIds: number[]): Static<typeof UserSchema> {
  const { id, email, name, surname, status, role, language, discoverable } = user;
  const actions = status === 'ACTIVE' ? ACTIONS : [];
  return { id, email, name, surname, status, role, actions, companyIds, language, discoverable };
}
