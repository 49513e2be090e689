import { nameOf } from '../../api/people.svelte.ts';

/**
 * The author of a packet: the user of the token, or else the sender in the message.
 *
 * @param author id of the user; undefined without a token
 */
export function authorOf(author: string | undefined, body: Readonly<Record<string, unknown>>): string {
  const { from_user: named } = body;
  const id = author ?? (typeof named === 'string' ? named : undefined);
  return id === undefined ? '' : nameOf(id);
}
