import type { Route } from '../../../address/route.ts';

export default [
  {
    path: '/administration/backups',
    below: '/administration/health',
    title: 'administration.backups',
    screen: () => import('./Backups.svelte'),
    for: 'administrator',
  },
] satisfies Route[];
