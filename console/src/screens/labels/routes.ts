import type { Route } from '../../routes.ts';

export default [
  { path: '/products/:id/labels', title: 'labels.title', screen: () => import('./Labels.svelte') },
  { path: '/labels/:id', title: 'labels.label', screen: () => import('./Label.svelte') },
  { path: '/labels/:id/print', title: 'labels.print', screen: () => import('./Print.svelte') },
] satisfies Route[];
