import { forbidden, notFound, unauthenticated, unavailable } from './reason.ts';

/** The reasons of the server of the console. */
export const consoleReasons = {
  'console.foreign_origin': forbidden(
    'changes are accepted from pages of the console only: Origin must be its own',
  ),
  'console.not_logged_in': unauthenticated('log in first'),
  'console.foreign_registry': unavailable(
    'the packet service checks tokens of another user registry (USER_REGISTRY_…), which the console cannot log in to',
  ),
  'console.packet_service_missing': unavailable(
    'the packet service does not run in the process of the console: SERVICES must name both',
  ),
  'console.trace_backend_missing': unavailable(
    'the trace backend does not run in the process of the console: SERVICES must name both',
  ),
  'base_map.unknown': notFound('there is no such base map'),
};
