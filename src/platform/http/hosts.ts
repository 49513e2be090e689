import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../settings/settings.ts';
import { isLoopbackHost } from './address.ts';
import { Problem } from './problems.ts';

/** The settings that say by which names the services are reached. */
export type HostSettings = Pick<
  Settings,
  'HOST' | 'TRUST_PROXY' | 'PUBLIC_URL' | 'TRACE_PUBLIC_URL' | 'CONSOLE_PUBLIC_URL' | 'ALLOWED_HOSTS'
>;

/**
 * Refuses HTTP/1.1 requests without a Host. Where the service listens on loopback only, it also refuses a Host that is
 * not one of its names: a page of another site whose name resolves to 127.0.0.1 (DNS rebinding) would otherwise read
 * and write here as a page of this service. Addresses and localhost cannot be made to mean something else.
 *
 * Behind a proxy the names are the proxy's business, and a service on the network is reached by any of its names.
 */
export function checkHosts(app: FastifyInstance, settings: HostSettings): void {
  const isChecked = isLoopbackHost(settings.HOST) && settings.TRUST_PROXY === 'false';
  const known = isChecked ? knownHosts(settings) : undefined;
  // Nearly every request has the Host of the one before.
  let lastAllowed: string | undefined;
  app.addHook('onRequest', ({ headers: { host }, raw }, _reply, done) => {
    if (host !== undefined && host === lastAllowed) return done();
    if (host === undefined) {
      const isMissing = raw.httpVersion === '1.1';
      return done(isMissing ? new Problem('request.no_host') : undefined);
    }
    if (known && !isKnown(known, host)) return done(new Problem('request.unknown_host'));
    lastAllowed = host;
    done();
  });
}

function isKnown(known: ReadonlySet<string>, host: string): boolean {
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  return known.has(name) || isIP(name) !== 0;
}

function knownHosts(settings: HostSettings): Set<string> {
  const { PUBLIC_URL, TRACE_PUBLIC_URL, CONSOLE_PUBLIC_URL, ALLOWED_HOSTS } = settings;
  const urls = [PUBLIC_URL, TRACE_PUBLIC_URL, CONSOLE_PUBLIC_URL].filter(url => url !== undefined);
  return new Set([
    'localhost',
    ...urls.map(url => new URL(url).hostname),
    ...(ALLOWED_HOSTS?.toLowerCase().split(',') ?? []),
  ]);
}

/**
 * Why others than this machine may be able to reach the services: where they listen, or what the settings say of a
 * proxy in front. Undefined when nothing says so.
 */
export function reachableBecause(settings: HostSettings): string | undefined {
  const { HOST, TRUST_PROXY, PUBLIC_URL, ALLOWED_HOSTS } = settings;
  if (!isLoopbackHost(HOST)) return `HOST is ${HOST}`;
  if (TRUST_PROXY !== 'false') return 'TRUST_PROXY says that a proxy is in front';
  if (PUBLIC_URL !== undefined && !isLoopbackHost(new URL(PUBLIC_URL).hostname)) {
    return `PUBLIC_URL is ${new URL(PUBLIC_URL).origin}`;
  }
  return ALLOWED_HOSTS === undefined ? undefined : `ALLOWED_HOSTS is ${ALLOWED_HOSTS}`;
}
