import { forbidden, notFound, unauthenticated, unavailable } from './reason.ts';

/** The reasons of the server of the console. */
export const consoleReasons = {
  'console.foreign_origin': forbidden(
    "changes are accepted only from the console's own pages: Origin must be the console's address",
    'Open the console at its own address, or set CONSOLE_PUBLIC_URL.',
  ),
  'console.not_logged_in': unauthenticated('log in first'),
  'console.foreign_registry': unavailable(
    'the packet service uses another user registry (USER_REGISTRY_…), which the console cannot log in to',
    'The operator runs the console with the trace backend as the user registry.',
  ),
  'console.packet_service_missing': unavailable(
    "the packet service does not run in the console's process: name both services in SERVICES",
    'The operator names both services in SERVICES.',
  ),
  'console.trace_backend_missing': unavailable(
    "the trace backend does not run in the console's process: name both services in SERVICES",
    'The operator names both services in SERVICES.',
  ),
  'base_map.unknown': notFound('base map not found'),
};
