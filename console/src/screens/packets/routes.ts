import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/packets',
    title: 'packets.title',
    screen: () => import('./Packets.svelte'),
    navigation: { group: 'field', order: 30, icon: 'packets' },
  },
] satisfies Route[];
