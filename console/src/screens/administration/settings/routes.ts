import type { Route } from '../../../address/route.ts';

export default [
  {
    path: '/administration/settings',
    title: 'administration.settings',
    screen: () => import('./Settings.svelte'),
    navigation: { group: 'administration', order: 50, icon: 'settings' },
    for: 'administrator',
  },
] satisfies Route[];
