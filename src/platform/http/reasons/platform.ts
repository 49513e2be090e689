import { forbidden, internal, invalid, notFound, unauthenticated } from './reason.ts';

/** The reasons that both services and the console have in common. */
export const platformReasons = {
  'internal.unexpected': internal(
    'internal error; see the log of the service',
    'Nothing was changed. Tell the operator the X-Request-Id of the answer.',
  ),
  'route.unknown': notFound('there is nothing at {path}'),
  'validation.required': invalid('{field} is required'),
  'key.invalid': unauthenticated('the key is unknown, expired or revoked'),
  'user.not_system_admin': forbidden('this is for a SYSTEM_ADMIN'),
};
