import type { BreakerWatch } from '../../../platform/outbound/breaker-watch.ts';
import { type OutboundAnswer, outbound } from '../../../platform/outbound/outbound.ts';
import type { Settings } from '../../../platform/settings/settings.ts';

/** Longest wait for one answer of the registry, in milliseconds. */
const PATIENCE_MS = 2_000;

/**
 * Sends a request to the user registry at USER_REGISTRY_URL.
 *
 * @param path below that URL, with its query
 * @throws Problem unavailable if the registry cannot be reached
 */
export type AskRegistry = (method: 'GET' | 'POST', path: string, body?: object) => Promise<OutboundAnswer>;

/**
 * A client for one use of the registry. Each use has its own, so that failing look-ups of contacts, which every sender
 * can cause, do not keep keys from being resolved.
 *
 * @param name of the registry in logs, metrics and errors
 * @returns undefined without USER_REGISTRY_URL
 */
export function registryClient(
  { USER_REGISTRY_URL: base, SERVICE_TOKEN: token }: Pick<Settings, 'USER_REGISTRY_URL' | 'SERVICE_TOKEN'>,
  name: string,
  watch?: BreakerWatch,
): AskRegistry | undefined {
  if (base === undefined) return undefined;
  const send = outbound({ name, timeoutMs: PATIENCE_MS, retries: 1, maxBytes: 64 * 1024, watch });
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  return (method, path, body) =>
    send({ method, url: new URL(`${base.replace(/\/+$/, '')}/${path}`), headers, body });
}
