import type { Server } from '../platform/http/server.ts';
import type { Settings } from '../platform/settings/settings.ts';

/** The path of what pages need to know about the installation before a login. */
const PATH = '/instance.json';

/** Tells pages whether mails are sent, or are only written to files, and whether packets can be read without a login. */
export function registerInstance(
  app: Server,
  { SMTP_URL, AUTH_MODE }: Pick<Settings, 'SMTP_URL' | 'AUTH_MODE'>,
): void {
  app.get(PATH, { config: { open: true } }, async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { mail_server: SMTP_URL !== undefined, auth_mode: AUTH_MODE };
  });
}
