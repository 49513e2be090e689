import type { Route } from '../address/route.ts';
import { session } from '../api/session.svelte.ts';

/** Whether the user who is logged in may see a screen; the services check every request themselves. */
export function isFor({ for: who }: Pick<Route, 'for'>): boolean {
  if (who === 'administrator') return session.isAdministrator;
  if (who === 'regional-administrator') return session.isRegionalAdministrator;
  return true;
}
