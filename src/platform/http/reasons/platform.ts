import { forbidden, internal, invalid, unauthenticated } from './reason.ts';

/** The reasons that both services and the console have in common. */
export const platformReasons = {
  'internal.unexpected': internal(
    'internal error; see the log of the service',
    'Nothing was changed. Tell the operator the X-Request-Id of the answer.',
  ),
  'validation.required': invalid('{field} is required'),
  'key.invalid': unauthenticated('the key is unknown, expired or revoked'),
  'user.not_system_admin': forbidden('this is for a SYSTEM_ADMIN'),
  'token.not_access': unauthenticated('the token is not an access token'),
};
