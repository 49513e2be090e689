import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { LANGUAGES, MAIL_LANGUAGES } from '../../base/contract/language.ts';

export const Language = Type.Enum([...LANGUAGES], {
  description: 'language of the user, and of emails unless mailLanguage differs',
  default: 'EN',
});

export const MailLanguage = Type.Enum([...MAIL_LANGUAGES], {
  description: "language of emails; sets language too, or EN if language doesn't support it",
  examples: ['EN'],
});

export const Status = Type.Enum(['UNCONFIRMED', 'CONFIRMED_EMAIL', 'ACTIVE', 'DEACTIVATED']);

export const Role = Type.Enum(['USER', 'REGIONAL_ADMIN', 'SYSTEM_ADMIN']);

export const Email = Type.String({
  minLength: 3,
  maxLength: 255,
  description: 'email address',
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
        description: "true if the account is erased and can't be used; otherwise absent",
      }),
    ),
  }),
);

export const User = named(
  'User',
  Type.Object({
    ...UserItem.properties,
    actions: Type.Array(Type.Enum([...ACTIONS]), {
      description: "the user's permissions",
      examples: [ACTIONS],
    }),
    companyIds: Type.Array(Type.Integer(), { description: 'companies that the user is a member of' }),
    companyIdsAdmin: Type.Array(Type.Integer(), {
      description: 'companies that the user is COMPANY_ADMIN of',
    }),
    mailLanguage: MailLanguage,
    hasFirstPassword: Type.Boolean({
      description: 'whether an administrator still uses the initial password',
    }),
    emailConfirmed: Type.Boolean({
      description:
        "whether the owner of the address has confirmed it: with a mailed token and the account's password, or by " +
        'setting a password with a mailed token. The user receives shares and invitations to the address only after ' +
        "that. Confirmation or activation by administrators doesn't count",
    }),
    discoverable: Type.Boolean({
      description: 'whether others can share packets with the user by email address',
    }),
  }),
);

/** The secret of a mailed link. */
export const MailToken = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'the token from the email',
  examples: ['kZJ3m0T9xXo2Jr8qVbq1cWl5yN7uE4sA6dF0gH2jK1M'],
});

export const Confirmation = Type.Object({
  token: MailToken,
  password: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: "the account's password; without it, the address doesn't count as confirmed by its owner",
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
  description: 'six digits from the app, or a recovery code',
  examples: ['492039'],
});

/** The code of a change; required if the account has a second factor. */
export const FreshCode = Type.Optional({
  ...Code,
  description:
    'six digits from the app, or a recovery code; each works once. Required if the account has a second factor',
});
