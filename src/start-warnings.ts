import type { Logger } from 'pino';
import type { Listening } from './greeting.ts';
import { isLoopbackHost } from './platform/http/address.ts';
import { reachableBecause } from './platform/http/hosts.ts';
import type { Settings } from './platform/settings/settings.ts';

/** Says it where others than this machine could reach a packet service that does not ask everyone for a token. */
export function warnOfOpenDoors(settings: Settings, logger: Logger): void {
  const { SERVICES, AUTH_MODE } = settings;
  const because = reachableBecause(settings);
  if (because === undefined || AUTH_MODE === 'required' || !SERVICES.includes('packet')) return;
  const open =
    AUTH_MODE === 'off' ? 'EVERYTHING' : 'ALL DATA CREATED WITHOUT TOKENS, INCLUDING ALL OBSERVATIONS';
  logger.warn(
    { AUTH_MODE, because },
    `ANYONE WHO REACHES THIS ADDRESS CAN READ AND WRITE ${open}: set AUTH_MODE=required unless you want this`,
  );
}

/**
 * Warnings that links which leave this machine, in mails and QR codes, would begin with an address that means something
 * only on it.
 *
 * @param listening where the services listen, as URLs
 * @param consoleUrl to which links in mails lead, if they lead to the console
 * @returns none if other machines can open the links, or none are meant to
 */
export function uselessLinks(
  settings: Settings,
  listening: Readonly<Listening>,
  consoleUrl: string | undefined,
): string[] {
  const because = reachableBecause(settings);
  if (because === undefined) return [];
  const links = [
    ['links in emails and QR codes of labels', 'TRACE_PUBLIC_URL', listening.trace],
    ['links in emails', 'PUBLIC_URL', listening.packet],
    ['links in emails', 'CONSOLE_PUBLIC_URL', consoleUrl],
  ] as const;
  return links.flatMap(([what, setting, address]) => {
    const begins = address && (settings[setting] ?? address);
    if (begins === undefined || !isOnlyHere(begins)) return [];
    return [`${what} start with ${begins}, which other machines cannot open (${because}): set ${setting}`];
  });
}

function isOnlyHere(url: string): boolean {
  const { hostname } = new URL(url);
  return isLoopbackHost(hostname) || hostname === '0.0.0.0' || hostname === '[::]';
}
