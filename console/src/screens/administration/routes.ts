import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/administration/users',
    title: 'administration.users',
    screen: () => import('./Users.svelte'),
    navigation: { group: 'administration', order: 10, icon: 'users' },
    for: 'regional-administrator',
  },
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
  {
    path: '/administration/health',
    title: 'administration.health',
    screen: () => import('./Health.svelte'),
    navigation: { group: 'administration', order: 40, icon: 'health' },
    for: 'administrator',
  },
  {
    path: '/administration/backups',
    title: 'administration.backups',
    screen: () => import('./Backups.svelte'),
    for: 'administrator',
  },
  {
    path: '/administration/settings',
    title: 'administration.settings',
    screen: () => import('./Settings.svelte'),
    navigation: { group: 'administration', order: 50, icon: 'settings' },
    for: 'administrator',
  },
] satisfies Route[];
