import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/map',
    title: 'map.title',
    screen: () => import('./MapScreen.svelte'),
    navigation: { group: 'field', order: 20, icon: 'map' },
  },
] satisfies Route[];
