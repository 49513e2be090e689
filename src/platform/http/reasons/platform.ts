import { internal } from './reason.ts';

/** The reasons that both services and the console have in common. */
export const platformReasons = {
  'internal.unexpected': internal(
    'internal error; see the log of the service',
    'Nothing was changed. Tell the operator the X-Request-Id of the answer.',
  ),
};
