import type { Route } from '../../address/route.ts';

export default [
  { path: '/products/:id/labels', title: 'labels.title', screen: () => import('./Labels.svelte') },
  { path: '/labels/:id', title: 'labels.label', screen: () => import('./Label.svelte') },
  { path: '/labels/:id/origin', title: 'labels.origin', screen: () => import('./LabelOrigin.svelte') },
  {
    path: '/labels/:id/consumer-page',
    title: 'consumer.title',
    screen: () => import('./LabelConsumerPage.svelte'),
  },
  { path: '/labels/:id/documents', title: 'labels.documents', screen: () => import('./Documents.svelte') },
  { path: '/labels/:id/feedback', title: 'labels.feedback', screen: () => import('./Feedback.svelte') },
  {
    path: '/labels/:id/statistics',
    title: 'labels.statistics',
    screen: () => import('./Statistics.svelte'),
  },
  { path: '/labels/:id/print', title: 'labels.print', screen: () => import('./Print.svelte') },
] satisfies Route[];
