import type { Static } from 'typebox';
import { ACTIONS, type UserItem, type User as UserSchema } from './schemas.ts';
import type { User } from './store.ts';

/** The companies of a user, as in answers. */
export interface UserCompanies {
  companyIds: number[];
  companyIdsAdmin: number[];
}

/** A user as in answers. */
export function asUser(user: User, companies: UserCompanies): Static<typeof UserSchema> {
  const { status, discoverable, emailConfirmed, hasFirstPassword } = user;
  const actions = status === 'ACTIVE' ? [...ACTIONS] : [];
  const { companyIds, companyIdsAdmin } = companies;
  const own = { discoverable, emailConfirmed, hasFirstPassword };
  return { ...asItem(user), actions, companyIds, companyIdsAdmin, ...own };
}

/** A user in lists. */
export function asItem(user: User): Static<typeof UserItem> {
  const { id, email, name, surname, status, role, language, erased } = user;
  return { id, email, name, surname, status, role, language, ...(erased && { erased }) };
}
