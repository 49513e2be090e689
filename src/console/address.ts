import { isIP } from 'node:net';
import type { Settings } from '../platform/settings/settings.ts';
import { namesRegistry } from '../platform/tokens/user-registry.ts';
import { isConsoleBuilt } from './pages.ts';

/**
 * The base URL of the console for links in mails, without a trailing slash; undefined where they lead to pages of the
 * services: the console is not served, or the settings name public addresses of the services and none of the console.
 *
 * @param listening where the console listens, as a URL; undefined before it does
 */
export function consoleUrl(settings: Settings, listening: string | undefined): string | undefined {
  const { SERVICES, CONSOLE_PUBLIC_URL, PUBLIC_URL, TRACE_PUBLIC_URL } = settings;
  if (CONSOLE_PUBLIC_URL !== undefined) return CONSOLE_PUBLIC_URL.replace(/\/+$/, '');
  if (!SERVICES.includes('console') || !isConsoleBuilt()) return undefined;
  return (PUBLIC_URL ?? TRACE_PUBLIC_URL) === undefined ? (listening ?? futureUrl(settings)) : undefined;
}

/** Like `consoleUrl`, for mails of the packet service: the console may not know its users. */
export function consoleUrlOfPackets(settings: Settings, listening: string | undefined): string | undefined {
  return namesRegistry(settings) ? undefined : consoleUrl(settings, listening);
}

/** The address that the console will listen on, unless it picks any free port. */
function futureUrl({ HOST, CONSOLE_PORT }: Settings): string | undefined {
  const host = isIP(HOST) === 6 ? `[${HOST}]` : HOST;
  return CONSOLE_PORT === 0 ? undefined : `http://${host}:${CONSOLE_PORT}`;
}
