import { BlockList, isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Settings, SettingsError } from '../../settings/settings.ts';
import { forwardedAddresses, isLoopback } from '../address.ts';

/** Maximum networks that TRUST_PROXY can name. */
const MAX_NETWORKS = 100;

/**
 * Whether an address belongs to a proxy whose X-Forwarded-For, -Host and -Proto count. Hop 0 is the peer of the
 * connection, hop 1 the rightmost address of the header, and so on; the first that is not trusted is the client.
 */
export type TrustedProxy = (address: string, hop: number) => boolean;

/**
 * Reads TRUST_PROXY: `false`; `true`, which is one hop; a number of hops; or addresses and networks (CIDR).
 *
 * @throws SettingsError
 */
export function trustedProxies({ TRUST_PROXY }: Pick<Settings, 'TRUST_PROXY'>): TrustedProxy | false {
  if (TRUST_PROXY === 'false') return false;
  if (TRUST_PROXY === 'true') return oneHop;
  if (/^([1-9]|10)$/.test(TRUST_PROXY)) {
    const hops = Number(TRUST_PROXY);
    return (_address, hop) => hop < hops;
  }
  const networks = TRUST_PROXY.split(',').map(part => part.trim());
  const list = new BlockList();
  if (networks.length > MAX_NETWORKS || !networks.every(network => addNetwork(list, network))) {
    throw new SettingsError(
      'TRUST_PROXY must be true, false, a number of proxies from 1 to 10, or their addresses and networks ' +
        '(such as 10.0.0.0/8,2001:db8::/32), separated by commas',
    );
  }
  return address => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
}

const oneHop: TrustedProxy = (_address, hop) => hop === 0;

/** @returns whether it is an address or a network */
function addNetwork(list: BlockList, network: string): boolean {
  const [address = '', prefix, ...rest] = network.split('/');
  const version = isIP(address);
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) {
    list.addAddress(address, family);
    return true;
  }
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > (version === 4 ? 32 : 128)) return false;
  list.addSubnet(address, Number(prefix), family);
  return true;
}

/**
 * Reads X-Forwarded-For of trusted proxies as addresses only. If none is trusted, the first request forwarded by a
 * proxy on this machine is logged, because its clients look like this machine and are exempt from limits by address.
 */
export function readForwarded(app: FastifyInstance, trusted: TrustedProxy | false): void {
  if (trusted) {
    app.addHook('onRequest', (request, _reply, done) => {
      const header = request.headers['x-forwarded-for'];
      if (header !== undefined) request.headers['x-forwarded-for'] = forwardedAddresses(String(header));
      done();
    });
    return;
  }
  let mentioned = false;
  app.addHook('onRequest', (request, _reply, done) => {
    if (!mentioned && isForwarded(request.headers) && isLoopback(request.ip)) {
      mentioned = true;
      request.log.warn(
        'a proxy on this machine forwards requests, and TRUST_PROXY is false: its clients are exempt from limits by address',
      );
    }
    done();
  });
}

function isForwarded(headers: Record<string, unknown>): boolean {
  return headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
}
