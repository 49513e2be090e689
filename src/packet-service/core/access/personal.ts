import type { Server } from '../../../platform/http/server.ts';

/** Paths whose answers contain personal relations. Packets and files are not among them. */
const PERSONAL = /^\/(?:chat|directory|invitations|notifications|shares)(?:\/|$)/;

/** Forbids caching of answers with personal data; applies to routes registered afterwards. */
export function keepPersonalDataOutOfCaches(app: Server): void {
  app.addHook('onRoute', route => {
    if (PERSONAL.test(route.url)) route.config = { ...route.config, personal: true };
  });
}
