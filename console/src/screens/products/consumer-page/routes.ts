import type { Route } from '../../../address/route.ts';

export default [
  {
    path: '/products/:id/consumer-page',
    title: 'consumer.title',
    screen: () => import('./ConsumerPage.svelte'),
  },
] satisfies Route[];
