import type { Route } from '../../address/route.ts';

export default [
  { path: '/products/:id/labels', title: 'labels.title', screen: () => import('./Labels.svelte') },
  { path: '/labels/:id', below: '/products', title: 'labels.label', screen: () => import('./Label.svelte') },
  {
    path: '/labels/:id/origin',
    below: '/products',
    title: 'labels.origin',
    screen: () => import('./LabelOrigin.svelte'),
  },
  {
    path: '/labels/:id/consumer-page',
    below: '/products',
    title: 'consumer.title',
    screen: () => import('./LabelConsumerPage.svelte'),
  },
  {
    path: '/labels/:id/documents',
    below: '/products',
    title: 'labels.documents',
    screen: () => import('./Documents.svelte'),
  },
  {
    path: '/labels/:id/feedback',
    below: '/products',
    title: 'labels.feedback',
    screen: () => import('./Feedback.svelte'),
  },
  {
    path: '/labels/:id/statistics',
    below: '/products',
    title: 'labels.statistics',
    screen: () => import('./Statistics.svelte'),
  },
  {
    path: '/labels/:id/print',
    below: '/products',
    title: 'labels.print',
    screen: () => import('./Print.svelte'),
  },
] satisfies Route[];
