import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/currency',
    title: 'currency.title',
    screen: () => import('./Currency.svelte'),
    navigation: { group: 'chain', order: 40, icon: 'currency' },
  },
] satisfies Route[];
