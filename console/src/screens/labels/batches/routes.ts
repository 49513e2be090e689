import type { Route } from '../../../address/route.ts';

export default [
  {
    path: '/labels/:id/batches',
    below: '/products',
    title: 'labels.batches',
    screen: () => import('./Batches.svelte'),
  },
] satisfies Route[];
