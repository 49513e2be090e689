import type { Logger } from 'pino';
import { isLoopbackHost } from './platform/http/address.ts';
import { reachableBecause } from './platform/http/hosts.ts';
import type { Settings } from './platform/settings.ts';

/** Says it where others than this machine could reach a packet service that does not ask everyone for a token. */
export function warnOfOpenDoors(settings: Settings, logger: Logger): void {
  const { SERVICES, AUTH_MODE } = settings;
  const because = reachableBecause(settings);
  if (because === undefined || AUTH_MODE === 'required' || !SERVICES.includes('packet')) return;
  const open = AUTH_MODE === 'off' ? 'EVERYTHING' : 'WHAT IS MADE WITHOUT TOKENS, ALL OBSERVATIONS AMONG IT';
  logger.warn(
    { AUTH_MODE, because },
    `ANYONE WHO REACHES THIS ADDRESS CAN READ AND WRITE ${open}: set AUTH_MODE=required unless that is meant`,
  );
}

/**
 * The warning that links which leave this machine, in mails and QR codes, would begin with an address that means
 * something only on it.
 *
 * @param service whose links they are
 * @param listening where it listens, as a URL
 * @returns undefined if other machines can open the links, or none are meant to
 */
export function uselessLinks(
  settings: Settings,
  service: 'packet' | 'trace',
  listening: string,
): string | undefined {
  const because = reachableBecause(settings);
  if (because === undefined) return undefined;
  const setting = service === 'packet' ? 'PUBLIC_URL' : 'TRACE_PUBLIC_URL';
  const begins = settings[setting] ?? listening;
  const { hostname } = new URL(begins);
  if (!isLoopbackHost(hostname) && hostname !== '0.0.0.0' && hostname !== '[::]') return undefined;
  const links = service === 'packet' ? 'links in mails begin' : 'links in mails and QR codes of labels begin';
  return `${links} with ${begins}, which other machines cannot open (${because}): set ${setting}`;
}
