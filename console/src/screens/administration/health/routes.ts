import type { Route } from '../../../address/route.ts';

export default [
  {
    path: '/administration/health',
    title: 'administration.health',
    screen: () => import('./Health.svelte'),
    navigation: { group: 'administration', order: 40, icon: 'health' },
    for: 'administrator',
  },
] satisfies Route[];
