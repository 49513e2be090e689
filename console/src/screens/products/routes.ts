import type { Route } from '../../routes.ts';

export default [
  {
    path: '/products',
    title: 'products.title',
    screen: () => import('./Products.svelte'),
    navigation: { group: 'chain', order: 20, icon: 'products' },
  },
  { path: '/products/new', title: 'products.new', screen: () => import('./NewProduct.svelte') },
  { path: '/products/:id', title: 'products.product', screen: () => import('./Product.svelte') },
  { path: '/products/:id/history', title: 'products.history', screen: () => import('./History.svelte') },
] satisfies Route[];
