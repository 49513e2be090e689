import type { Component } from 'svelte';
import { matchPath } from './shell/match-path.ts';

/** A screen and its address. */
export interface Route {
  /** such as /packets/:id; the screen gets `id` as a property */
  path: string;
  /** key of the message that is the title of the document and of the navigation */
  title: string;
  // biome-ignore lint/suspicious/noExplicitAny: each screen has its own properties, the parameters of its path
  screen: () => Promise<{ default: Component<any> }>;
  /** its place in the navigation, if it is there */
  navigation?: { group: 'field' | 'chain' | 'administration' | 'own'; order: number; icon: string };
  /** who sees it; everyone who is logged in if it is absent */
  for?: 'administrator' | 'regional-administrator';
}

const files = import.meta.glob<Route[]>('./screens/*/routes.ts', { import: 'default', eager: true });

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
