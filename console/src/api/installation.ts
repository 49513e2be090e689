import { reach } from './connection.svelte.ts';

/** The facts about the installation that pages can read before a login. */
interface Installation {
  mail_server?: boolean;
  auth_mode?: 'off' | 'optional' | 'required';
}

/** Where the browser keeps it for use without a connection. */
const STORED = 'installation';

async function installation(signal?: AbortSignal): Promise<Installation> {
  const answer = await reach('/instance.json', { ...(signal && { signal }) }).catch(() => undefined);
  // The page of a network that asks for a login of its own is no JSON.
  const found: Installation | undefined = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
  if (!found) return JSON.parse(localStorage.getItem(STORED) ?? '{}') as Installation;
  localStorage.setItem(STORED, JSON.stringify(found));
  return found;
}

/** Loads it, so that it is available without a connection later. */
export async function rememberInstallation(): Promise<void> {
  await installation();
}

/** Whether the installation sends email; assumed if it was never loaded. */
export async function hasMailServer(signal?: AbortSignal): Promise<boolean> {
  return (await installation(signal)).mail_server !== false;
}

/** How the packet service treats requests without a login; undefined if it was never loaded. */
export async function authMode(signal?: AbortSignal): Promise<Installation['auth_mode']> {
  return (await installation(signal)).auth_mode;
}
