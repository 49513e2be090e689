import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/administration/audit',
    title: 'administration.audit',
    screen: () => import('./Audit.svelte'),
    navigation: { group: 'administration', order: 20, icon: 'audit' },
    for: 'administrator',
  },
  {
    path: '/administration/jobs',
    title: 'administration.jobs',
    screen: () => import('./Jobs.svelte'),
    navigation: { group: 'administration', order: 30, icon: 'jobs' },
    for: 'administrator',
  },
] satisfies Route[];
