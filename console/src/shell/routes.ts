import { matchPath } from '../address/match-path.ts';
import type { Route } from '../address/route.ts';
import { isFor } from './is-for.svelte.ts';

const files = import.meta.glob<Route[]>('../screens/**/routes.ts', { import: 'default', eager: true });

/** The routes of all screens: each folder of `screens` has its own in routes.ts. */
const ROUTES: Route[] = Object.values(files).flat();

/** The groups of the navigation, in their order; what is the user's own is in their menu. */
export const GROUPS = ['start', 'field', 'chain', 'administration'] as const;

/** The route of a path, with the values of its parameters. */
export function findRoute(path: string): { route: Route; parameters: Record<string, string> } | undefined {
  for (const route of ROUTES) {
    const parameters = matchPath(route.path, path);
    if (parameters) return { route, parameters };
  }
  return undefined;
}

/** The links of a group that the navigation offers the user, in its order. */
export function routesOf(group: NonNullable<Route['navigation']>['group']): Route[] {
  return ROUTES.filter(route => route.navigation?.group === group && isFor(route)).sort(
    (a, b) => (a.navigation?.order ?? 0) - (b.navigation?.order ?? 0),
  );
}

/** Whether an item of the navigation leads to where the user is, or to what is above it. */
export function isCurrent(item: string, path: string): boolean {
  return item === '/' ? path === '/' : path === item || path.startsWith(`${item}/`);
}

/** The item of the navigation that is above a path. */
export function itemAbove(path: string): Route | undefined {
  const below = findRoute(path)?.route.below ?? path;
  return ROUTES.find(route => route.navigation && isCurrent(route.path, below));
}
