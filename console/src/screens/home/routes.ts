import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/',
    title: 'home.title',
    screen: () => import('./Home.svelte'),
    navigation: { group: 'start', order: 10, icon: 'home' },
  },
] satisfies Route[];
