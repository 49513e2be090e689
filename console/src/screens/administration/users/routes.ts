import type { Route } from '../../../address/route.ts';

export default [
  {
    path: '/administration/users',
    title: 'administration.users',
    screen: () => import('./Users.svelte'),
    navigation: { group: 'administration', order: 10, icon: 'users' },
    for: 'regional-administrator',
  },
] satisfies Route[];
