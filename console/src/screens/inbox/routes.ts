import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/inbox',
    title: 'inbox.title',
    screen: () => import('./Inbox.svelte'),
    navigation: { group: 'field', order: 50, icon: 'inbox' },
  },
] satisfies Route[];
