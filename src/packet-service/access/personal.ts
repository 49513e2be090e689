import type { Server } from '../../platform/http/server.ts';

/** Paths whose answers say who knows, meets or can be found by whom. Packets and files are not among them. */
const PERSONAL = /^\/(?:chat|directory|invitations|notifications|shares)(?:\/|$)/;

/** Has no cache keep answers with personal data; for the routes that are registered from now on. */
export function keepPersonalDataOutOfCaches(app: Server): void {
  app.addHook('onRoute', route => {
    if (PERSONAL.test(route.url)) route.config = { ...route.config, personal: true };
  });
}
