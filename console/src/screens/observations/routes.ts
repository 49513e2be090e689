import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/observations/new',
    title: 'observations.title',
    screen: () => import('./NewObservation.svelte'),
    navigation: { group: 'field', order: 20, icon: 'observation' },
  },
] satisfies Route[];
