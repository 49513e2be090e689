import { matchPath } from '../address/match-path.ts';
import type { Route } from '../address/route.ts';

const files = import.meta.glob<Route[]>('../screens/**/routes.ts', { import: 'default', eager: true });

/** The routes of all screens: each folder of `screens` has its own in routes.ts. */
export const ROUTES: Route[] = Object.values(files).flat();

/** The route of a path, with the values of its parameters. */
export function findRoute(path: string): { route: Route; parameters: Record<string, string> } | undefined {
  for (const route of ROUTES) {
    const parameters = matchPath(route.path, path);
    if (parameters) return { route, parameters };
  }
  return undefined;
}
