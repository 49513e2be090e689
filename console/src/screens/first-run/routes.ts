import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/first-run',
    title: 'first-run.title',
    screen: () => import('./FirstRun.svelte'),
    for: 'administrator',
  },
] satisfies Route[];
