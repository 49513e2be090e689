import type { Route } from '../../address/route.ts';

/** The parts with their states, during development; the built console has no such page. */
export default (import.meta.env.DEV
  ? [{ path: '/parts', title: 'home.title', screen: () => import('./Parts.svelte') }]
  : []) satisfies Route[];
