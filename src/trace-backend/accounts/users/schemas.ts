import { Type } from 'typebox';
import { MAX_PASSWORD, MIN_PASSWORD } from './passwords.ts';

export const Language = Type.Enum(['EN', 'DE', 'RW', 'ES'], {
  description: 'language of mails',
  default: 'EN',
});

export const Status = Type.Enum(['UNCONFIRMED', 'CONFIRMED_EMAIL', 'ACTIVE', 'DEACTIVATED']);

export const Role = Type.Enum(['USER', 'REGIONAL_ADMIN', 'SYSTEM_ADMIN']);

const name = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', description, examples: [example] });

/** Its length is checked in code, which counts what people count. */
const Password = Type.String({
  minLength: MIN_PASSWORD,
  maxLength: MAX_PASSWORD,
  description: `${MIN_PASSWORD} to ${MAX_PASSWORD} characters`,
  examples: ['correct horse battery staple'],
});

export const Email = Type.String({
  minLength: 3,
  maxLength: 255,
  description: 'e-mail address',
  examples: ['ana@example.org'],
});

export const Registration = Type.Object({
  email: Email,
  password: Password,
  name: name('given name', 'Ana'),
  surname: name('family name', 'Uwase'),
  language: Type.Optional(Language),
});

export const User = Type.Object({
  id: Type.Integer({ examples: [7] }),
  email: Type.String({ examples: ['ana@example.org'] }),
  name: Type.String({ examples: ['Ana'] }),
  surname: Type.String({ examples: ['Uwase'] }),
  status: Status,
  role: Role,
  actions: Type.Array(Type.String(), {
    description: 'what the user may do',
    examples: [['VIEW_USER_PROFILE', 'UPDATE_USER_PROFILE', 'CREATE_COMPANY']],
  }),
  companyIds: Type.Array(Type.Integer(), { description: 'the companies the user is a member of' }),
  language: Language,
  discoverable: Type.Boolean({
    description: 'whether others can share packets with the user by e-mail address',
  }),
});

/** The secret out of a mailed link. */
export const MailToken = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'the token from the mail',
  examples: ['kZJ3m0T9xXo2Jr8qVbq1cWl5yN7uE4sA6dF0gH2jK1M'],
});

export const Confirmation = Type.Object({ token: MailToken });

export const Address = Type.Object({ email: Email });

export const PasswordReset = Type.Object({ token: MailToken, password: Password });

export const ProfileUpdate = Type.Object({
  name: Type.Optional(name('given name', 'Ana')),
  surname: Type.Optional(name('family name', 'Uwase')),
  language: Type.Optional(Language),
  discoverable: Type.Optional(
    Type.Boolean({ description: 'let others share packets with the user by e-mail address' }),
  ),
  password: Type.Optional(Password),
  currentPassword: Type.Optional(
    Type.String({ maxLength: 1024, description: 'needed to set another password' }),
  ),
});
