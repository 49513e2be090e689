import { findRoute } from '../../routes.ts';

/** The attributes of a link to a packet: to its screen, or to the page of the packet service in a tab of its own. */
export function packetAddress(id: string): { href: string; target?: string; rel?: string } {
  const screen = `/packets/${id}`;
  if (findRoute(screen)) return { href: screen };
  return { href: `/packet${screen}`, target: '_blank', rel: 'noopener' };
}
