import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/companies',
    title: 'companies.title',
    screen: () => import('./Companies.svelte'),
    navigation: { group: 'chain', order: 10, icon: 'companies' },
  },
  { path: '/companies/new', title: 'companies.new', screen: () => import('./NewCompany.svelte') },
  { path: '/companies/:id', title: 'companies.profile', screen: () => import('./Company.svelte') },
  { path: '/companies/:id/members', title: 'companies.members', screen: () => import('./Members.svelte') },
] satisfies Route[];
