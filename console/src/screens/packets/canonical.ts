interface Hashed {
  Header: unknown;
  Body: unknown;
}

/**
 * The canonical JSON (RFC 8785) of a value that JSON.parse has made: members by the UTF-16 code units of their names,
 * numbers and strings as ECMAScript writes them.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/** Whether this browser can compute hashes: only on https and on localhost. */
export const canHash = globalThis.crypto?.subtle !== undefined;

/** The hash of a packet as its Footer must have it: SHA-256 over the canonical JSON of Header and of Body, in hex. */
export async function packetHash({ Header, Body }: Hashed): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(Header) + canonicalJson(Body));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
}
