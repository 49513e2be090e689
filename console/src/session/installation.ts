import { reach } from '../api/connection.svelte.ts';

/** Whether the installation sends mails; where it cannot be asked, they are assumed to be sent. */
export async function hasMailServer(signal?: AbortSignal): Promise<boolean> {
  const answer = await reach('/instance.json', { ...(signal && { signal }) }).catch(() => undefined);
  const told = (await answer?.json().catch(() => undefined)) as { mail_server?: boolean } | undefined;
  return told?.mail_server !== false;
}
