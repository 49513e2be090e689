import { domainToASCII } from 'node:url';

/** Plain addresses only: no quotes, comments, lists, routes or address literals, which mail software disagrees on. */
const EMAIL = /^([^\s@"'(),:;<>[\\\]]{1,64})@([^\s@"'(),:;<>[\\\]]{1,255})$/;
const DOMAIN =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * An email address in the one form by which it is looked for: in lower case, its domain in ASCII.
 *
 * The part of an address before the @ could by RFC 5321 differ in case alone. No provider hands such addresses to
 * two people, while phones capitalise what is typed first.
 *
 * @returns undefined when it is no plain address
 */
export function readEmail(text: string): string | undefined {
  const [, local, name] = EMAIL.exec(text) ?? [];
  if (local === undefined || name === undefined) return undefined;
  const domain = domainToASCII(name);
  return DOMAIN.test(domain) ? `${local.toLowerCase()}@${domain}` : undefined;
}
