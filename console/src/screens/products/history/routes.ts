import type { Route } from '../../../address/route.ts';

export default [
  { path: '/products/:id/history', title: 'products.history', screen: () => import('./History.svelte') },
] satisfies Route[];
