import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/value-chains',
    title: 'codes.valueChains',
    screen: () => import('./ValueChains.svelte'),
    navigation: { group: 'administration', order: 14, icon: 'chains' },
    for: 'regional-administrator',
  },
  {
    path: '/value-chains/new',
    title: 'codes.valueChains.new',
    screen: () => import('./ValueChain.svelte'),
    for: 'regional-administrator',
  },
  {
    path: '/value-chains/:id',
    title: 'codes.valueChain',
    screen: () => import('./ValueChain.svelte'),
    for: 'regional-administrator',
  },
  {
    path: '/code-lists',
    title: 'codes.title',
    screen: () => import('./CodeLists.svelte'),
    navigation: { group: 'administration', order: 16, icon: 'codes' },
    for: 'regional-administrator',
  },
  {
    path: '/code-lists/:list',
    title: 'codes.title',
    screen: () => import('./CodeList.svelte'),
    for: 'regional-administrator',
  },
  {
    path: '/code-lists/:list/new',
    title: 'codes.new',
    screen: () => import('./Code.svelte'),
    for: 'regional-administrator',
  },
  {
    path: '/code-lists/:list/:id',
    title: 'codes.code',
    screen: () => import('./Code.svelte'),
    for: 'regional-administrator',
  },
] satisfies Route[];
