import { isIP, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Maximum addresses of X-Forwarded-For that are looked at, from the right. */
const MAX_FORWARDED = 16;

/** Whether an address is this machine's own. */
export function isLoopback(ip: string): boolean {
  return ip === '::1' || /^(::ffff:)?127\./i.test(ip);
}

/** Whether an address or a name of HOST means this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || isLoopback(name);
}

/**
 * Whether a request comes from this machine itself, which limits by address spare: from the operator's programs, or
 * from a proxy that TRUST_PROXY does not name. An address that a trusted proxy forwarded is never spared, whatever it
 * says.
 */
export function isLocalRequest(request: Pick<FastifyRequest, 'ip' | 'ips' | 'headers'>): boolean {
  const forwarded = request.ips !== undefined && request.headers['x-forwarded-for'] !== undefined;
  return !forwarded && isLoopback(request.ip);
}

/** The block under whose limits a request counts; undefined for one from this machine. */
export function countedAddress(request: Pick<FastifyRequest, 'ip' | 'ips' | 'headers'>): string | undefined {
  return isLocalRequest(request) ? undefined : addressBlock(request.ip);
}

/**
 * The part of X-Forwarded-For that can be believed to be addresses: from the right up to the first that is none,
 * without ports (some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`).
 */
export function forwardedAddresses(header: string): string {
  const addresses: string[] = [];
  for (const part of header.split(',').slice(-MAX_FORWARDED).reverse()) {
    const address = withoutPort(part.trim());
    if (isIP(address) === 0) break;
    addresses.unshift(address);
  }
  return addresses.join(', ');
}

function withoutPort(address: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
}

/**
 * The block of addresses that one customer of a network has: an IPv4 address itself, of IPv6 the /64 (RFC 6177), in
 * one spelling.
 */
export function addressBlock(ip: string): string {
  const [, v4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(ip) ?? [];
  if (v4) return v4;
  const [address = ''] = ip.split('%');
  if (!isIPv6(address)) return ip;
  // The URL standard's serialisation: lower case, no leading zeros, no dotted part, at most one `::`.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':') : [];
  const zeros = Array.from({ length: 8 - groups.length - behind.length }, () => '0');
  return `${[...groups, ...zeros, ...behind].slice(0, 4).join(':')}::/64`;
}
