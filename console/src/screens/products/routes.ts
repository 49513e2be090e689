import type { Route } from '../../address/route.ts';

export default [
  {
    path: '/products',
    title: 'products.title',
    screen: () => import('./Products.svelte'),
    navigation: { group: 'chain', order: 20, icon: 'products' },
  },
  { path: '/products/new', title: 'products.new', screen: () => import('./NewProduct.svelte') },
  { path: '/products/:id', title: 'products.product', screen: () => import('./Product.svelte') },
  {
    path: '/products/:id/final-products',
    title: 'products.finals',
    screen: () => import('./FinalProducts.svelte'),
  },
  {
    path: '/products/:id/knowledge',
    title: 'products.knowledge',
    screen: () => import('./Knowledge.svelte'),
  },
] satisfies Route[];
