import type { Route } from '../../routes.ts';

export default [
  {
    path: '/',
    title: 'home.title',
    screen: () => import('./Home.svelte'),
    navigation: { group: 'field', order: 10, icon: 'home' },
  },
] satisfies Route[];
