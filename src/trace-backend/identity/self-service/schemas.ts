import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { MAX_PASSWORD, MIN_PASSWORD } from '../users/passwords.ts';
import {
  Confirmation,
  Email,
  FreshCode,
  Language,
  MailLanguage,
  MailToken,
  personName,
  User,
} from '../users/schemas.ts';

/** The length is checked in code, which counts code points. */
const Password = Type.String({
  minLength: MIN_PASSWORD,
  maxLength: MAX_PASSWORD,
  description: `${MIN_PASSWORD} to ${MAX_PASSWORD} characters`,
  examples: ['correct horse battery staple'],
});

export const Registration = Type.Object({
  email: Email,
  password: Password,
  name: personName('given name', 'Ana'),
  surname: personName('family name', 'Uwase'),
  language: Type.Optional(Language),
  mailLanguage: Type.Optional(MailLanguage),
});

export const Address = Type.Object({ email: Email });

export const PasswordReset = Type.Object({ token: MailToken, password: Password });

export const ProfileUpdate = Type.Object({
  name: Type.Optional(personName('given name', 'Ana')),
  surname: Type.Optional(personName('family name', 'Uwase')),
  language: Type.Optional(Language),
  mailLanguage: Type.Optional(MailLanguage),
  discoverable: Type.Optional(
    Type.Boolean({ description: 'let others share packets with the user by email address' }),
  ),
  password: Type.Optional(Password),
  currentPassword: Type.Optional(
    Type.String({ maxLength: 1024, description: 'required to change the password' }),
  ),
  code: FreshCode,
});

const answers = (description: string) => ({ 200: envelope(User, description), ...failureAnswers() });

export const registerSchema = {
  operationId: 'registerUser',
  tags: ['User'],
  summary: 'Create an account',
  description: 'Sends an email with a token to the address. An administrator must activate the account.',
  body: {
    ...Registration,
    examples: [
      {
        email: 'ana@example.org',
        password: 'maize in the rain',
        name: 'Ana',
        surname: 'Uwase',
        language: 'EN',
      },
    ],
  },
  response: answers('the new user, not yet active'),
};

export const confirmEmailSchema = {
  operationId: 'confirmEmail',
  tags: ['User'],
  summary: 'Confirm an address with the mailed token',
  description:
    "With the account's password, the address counts as confirmed by its owner. Without it, only the status " +
    "changes, because someone may have registered with another person's address. A wrong password doesn't use up " +
    'the token; 10 wrong passwords within 15 minutes return 429.',
  body: Confirmation,
  response: answers('the user with the confirmed address'),
};

export const mailedTokenSchema = (operationId: string, summary: string, description: string) => ({
  operationId,
  tags: ['User'],
  summary,
  description: `${description} The answer is the same for every address. Sends at most one email in five minutes.`,
  body: Address,
  response: { 200: Done, ...failureAnswers() },
});

export const resetPasswordSchema = {
  operationId: 'resetPassword',
  tags: ['User'],
  summary: 'Set a password with a mailed token',
  description:
    "Ends all of the user's sessions and keys, notifies the user by email, and confirms the address. If the " +
    "owner hadn't confirmed the address before, someone else may have used the account: its second factor, and " +
    'company memberships from accepted invitations, end too. If the account is active and no second factor is ' +
    'needed, the answer logs the caller in by setting the cookies.',
  body: PasswordReset,
  response: { 200: Done, ...failureAnswers() },
};

export const getProfileSchema = {
  operationId: 'getProfile',
  tags: ['User'],
  summary: 'Get the logged-in user',
  response: { 200: envelope(User, 'the user'), ...failureAnswers(401) },
};

export const updateProfileSchema = {
  operationId: 'updateProfile',
  tags: ['User'],
  summary: 'Change the profile of the caller',
  description:
    'Omitted fields stay unchanged. A new password needs the current one, and a code if the account has a second ' +
    'factor. It ends all sessions and starts a new one for the caller.',
  body: ProfileUpdate,
  response: { 200: envelope(User, 'the user'), ...failureAnswers(401, 404) },
};

export const landingPageSchema = ({
  operationId,
  title,
  tag,
}: {
  operationId: string;
  title: string;
  tag: string;
}) => ({
  operationId,
  tags: [tag],
  summary: `${title}: the page that mailed links open`,
  description: 'The page is the same for every token; opening it changes nothing.',
  params: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link' }),
  }),
  response: {
    200: { description: 'a page', content: { 'text/html': { schema: Type.String() } } },
    ...failureAnswers(),
  },
});
