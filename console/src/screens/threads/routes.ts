import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/threads',
    title: 'threads.title',
    screen: () => import('./Threads.svelte'),
    navigation: { group: 'field', order: 40, icon: 'threads' },
  },
  { path: '/threads/:id', title: 'threads.one', screen: () => import('./Thread.svelte') },
] satisfies Route[];
