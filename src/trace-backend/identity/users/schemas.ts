import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { LANGUAGES, MAIL_LANGUAGES } from '../../base/contract/language.ts';

export const Language = Type.Enum([...LANGUAGES], {
  description: 'language of the user, and of mails unless mailLanguage is another one',
  default: 'EN',
});

export const MailLanguage = Type.Enum([...MAIL_LANGUAGES], {
  description: 'language of mails; language is then the same, or EN if it does not have it',
  examples: ['EN'],
});

export const Status = Type.Enum(['UNCONFIRMED', 'CONFIRMED_EMAIL', 'ACTIVE', 'DEACTIVATED']);

export const Role = Type.Enum(['USER', 'REGIONAL_ADMIN', 'SYSTEM_ADMIN']);

export const Email = Type.String({
  minLength: 3,
  maxLength: 255,
  description: 'e-mail address',
  examples: ['ana@example.org'],
});

/** A name of a person in a body. */
export const personName = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', description, examples: [example] });

/** The actions of an active user. */
export const ACTIONS = ['VIEW_USER_PROFILE', 'UPDATE_USER_PROFILE', 'CREATE_COMPANY'] as const;

/** A user in lists: front ends build forms of exactly these fields. */
export const UserItem = named(
  'UserItem',
  Type.Object({
    id: Type.Integer({ examples: [7] }),
    email: Type.String({ examples: ['ana@example.org'] }),
    name: Type.String({ examples: ['Ana'] }),
    surname: Type.String({ examples: ['Uwase'] }),
    status: Status,
    role: Role,
    language: Language,
    erased: Type.Optional(
      Type.Boolean({
        description: 'true if the account is erased: nothing can be done with it; absent otherwise',
      }),
    ),
  }),
);

export const User = named(
  'User',
  Type.Object({
    ...UserItem.properties,
    actions: Type.Array(Type.Enum([...ACTIONS]), {
      description: 'what the user may do',
      examples: [ACTIONS],
    }),
    companyIds: Type.Array(Type.Integer(), { description: 'the companies the user is a member of' }),
    companyIdsAdmin: Type.Array(Type.Integer(), {
      description: 'those of them whose COMPANY_ADMIN the user is',
    }),
    mailLanguage: MailLanguage,
    hasFirstPassword: Type.Boolean({
      description:
        'whether an administrator still has the password that the program created the account with',
    }),
    emailConfirmed: Type.Boolean({
      description:
        'whether the owner of the address has confirmed it, by a mailed token with the password of the account, or by setting a password by a mailed token. Only then shares with the address and invitations to it reach the user. What administrators confirm or activate does not count',
    }),
    discoverable: Type.Boolean({
      description: 'whether others can share packets with the user by e-mail address',
    }),
  }),
);

/** The secret of a mailed link. */
export const MailToken = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'the token from the mail',
  examples: ['kZJ3m0T9xXo2Jr8qVbq1cWl5yN7uE4sA6dF0gH2jK1M'],
});

export const Confirmation = Type.Object({
  token: MailToken,
  password: Type.Optional(
    Type.String({
      maxLength: 1024,
      description:
        'the password of the account; without it, the address does not count as confirmed by its owner',
      examples: ['correct horse battery staple'],
    }),
  ),
});

export const CurrentPassword = Type.String({
  maxLength: 1024,
  description: 'the current password',
  examples: ['correct horse battery staple'],
});

/** A code of an app, or a recovery code; spaces and hyphens are ignored. */
export const Code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'six digits of the app, or a recovery code',
  examples: ['492039'],
});

/** The code of a change; required if the account has a second factor. */
export const FreshCode = Type.Optional({
  ...Code,
  description:
    'six digits of the app, or a recovery code, none of which counts twice; required if the account has a second factor',
});
