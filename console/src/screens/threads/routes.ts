import type { Route } from '../../address/route.ts';
import { unread } from '../../api/unread.svelte.ts';

export default [
  {
    path: '/threads',
    title: 'threads.title',
    screen: () => import('./Threads.svelte'),
    navigation: {
      group: 'field',
      order: 40,
      icon: 'threads',
      news: { count: () => unread.count, text: 'threads.unread' },
    },
  },
  { path: '/threads/:id', title: 'threads.one', screen: () => import('./Thread.svelte') },
] satisfies Route[];
