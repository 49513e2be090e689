import { nameOf } from '../../api/people.svelte.ts';

/**
 * Who sent a packet: the user whose token it came with, else the sender that a message names.
 *
 * @param author id of the user; undefined without a token
 */
export function authorOf(author: string | undefined, body: Readonly<Record<string, unknown>>): string {
  const { from_user: named } = body;
  const id = author ?? (typeof named === 'string' ? named : undefined);
  return id === undefined ? '' : nameOf(id);
}
