import type { Route } from '../../../address/route.ts';

export default [
  { path: '/packets/:id', title: 'packets.one', screen: () => import('./Packet.svelte') },
] satisfies Route[];
