import type { Route } from '../../address/route.ts';

const SCREENS = {
  Profile: () => import('./Profile.svelte'),
  Security: () => import('./Security.svelte'),
  Sessions: () => import('./Sessions.svelte'),
  Keys: () => import('./Keys.svelte'),
  Data: () => import('./Data.svelte'),
};

export default [
  {
    path: '/account',
    title: 'account.title',
    screen: SCREENS.Profile,
    navigation: { group: 'own', order: 10, icon: 'account' },
  },
  { path: '/account/security', title: 'account.security', screen: SCREENS.Security },
  { path: '/account/sessions', title: 'account.sessions', screen: SCREENS.Sessions },
  { path: '/account/keys', title: 'account.keys', screen: SCREENS.Keys },
  { path: '/account/data', title: 'account.data', screen: SCREENS.Data },
] satisfies Route[];
