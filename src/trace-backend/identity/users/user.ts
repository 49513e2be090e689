import type { Static } from 'typebox';
import { frontEndLanguage, type Language, type MailLanguage } from '../../base/contract/language.ts';
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
  const further = { actions, companyIds, companyIdsAdmin, discoverable, emailConfirmed, hasFirstPassword };
  return { ...asItem(user), mailLanguage: user.language, ...further };
}

/** A user in lists. */
export function asItem(user: User): Static<typeof UserItem> {
  const { id, email, name, surname, status, role, erased } = user;
  const language = frontEndLanguage(user.language);
  return { id, email, name, surname, status, role, language, ...(erased && { erased }) };
}

/**
 * The language of a user after a change. A client that supports one of the two fields sends the other back unchanged, so
 * only a different value is a change; if both differ, that of the public front end wins.
 *
 * @returns undefined if it stays the same
 */
export function languageAfter(
  before: MailLanguage,
  { language, mailLanguage }: { language?: Language | undefined; mailLanguage?: MailLanguage | undefined },
): MailLanguage | undefined {
  if (language !== undefined && language !== frontEndLanguage(before)) return language;
  return mailLanguage === before ? undefined : mailLanguage;
}
