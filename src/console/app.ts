import type { FastifyBaseLogger } from 'fastify';
import { createServer } from '../platform/http/pipeline/create-server.ts';
import type { Server } from '../platform/http/server.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { VERSION } from '../platform/version.ts';
import { registerBaseMap } from './basemap.ts';
import { registerForwarding, type Services } from './forward.ts';
import { registerInstance } from './instance.ts';
import { registerPages } from './pages.ts';

/** Maximum requests of one client address per minute; those that are forwarded also count at the service. */
const PER_MINUTE = 20_000;
const BODY_LIMIT = 64 * 1024;

/**
 * The web console: its pages, and the two services under /packet and /trace, so that a browser has one origin to trust.
 *
 * @param services those that run in this process
 * @param folder of the built console, if it is another one
 */
export async function consoleService(
  settings: Settings,
  services: Services,
  logger: FastifyBaseLogger,
  folder?: string,
): Promise<Server> {
  const app = await createServer({
    title: 'fieldtrace console',
    description: 'The web console.',
    version: VERSION,
    documented: false,
    definitionPath: '',
    pagePath: '',
    tags: [],
    examples: [],
    securitySchemes: {},
    errorBody: problem => ({ error: problem.message }),
    challenge: () => 'Cookie realm="fieldtrace", form-action="/", cookie-name="trace-accessToken"',
    everyError: false,
    unknownParameters: 'ignored',
    bodyLimit: BODY_LIMIT,
    publicUrl: settings.CONSOLE_PUBLIC_URL ?? settings.TRACE_PUBLIC_URL,
    perMinute: PER_MINUTE,
    logger,
    settings,
  });
  registerForwarding(app, services, settings);
  registerInstance(app, settings);
  await registerPages(app, folder);
  if (app.hasReplyDecorator('sendFile')) registerBaseMap(app, settings);
  return app;
}
