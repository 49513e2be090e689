import { reach } from './connection.svelte.ts';

/** What pages may know of the installation before a login; nothing where it cannot be asked. */
interface Installation {
  mail_server?: boolean;
  auth_mode?: 'off' | 'optional' | 'required';
}

async function installation(signal?: AbortSignal): Promise<Installation> {
  const answer = await reach('/instance.json', { ...(signal && { signal }) }).catch(() => undefined);
  return ((await answer?.json().catch(() => undefined)) ?? {}) as Installation;
}

/** Whether the installation sends mails; where it cannot be asked, they are assumed to be sent. */
export async function hasMailServer(signal?: AbortSignal): Promise<boolean> {
  return (await installation(signal)).mail_server !== false;
}

/** How the packet service treats requests without a login; undefined where it cannot be asked. */
export async function authMode(signal?: AbortSignal): Promise<Installation['auth_mode']> {
  return (await installation(signal)).auth_mode;
}
