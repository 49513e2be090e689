import type { Database } from '../../../platform/database/database.ts';
import { deleteApiKeys } from '../api-keys/store.ts';
import { deleteEmailChange } from '../email-change/store.ts';
import { deleteMailTokens, deleteResets } from '../mails/store.ts';
import { raiseSessionVersion } from '../users/store.ts';
import { deleteSessions } from './store.ts';

/**
 * Ends every session of a user: all access and refresh tokens so far. Call `Endings.notify` after the commit.
 *
 * @param resets whether keys for programs, password reset tokens and a pending change of address end too
 */
export async function endSessions(
  database: Database,
  userId: number,
  { resets }: { resets: boolean },
): Promise<void> {
  await raiseSessionVersion(database, userId);
  await deleteSessions(database, userId);
  if (!resets) return;
  await deleteApiKeys(database, userId);
  await deleteResets(database, userId);
  await deleteEmailChange(database, userId);
  await deleteMailTokens(database, userId, ['CHANGE_EMAIL_OLD', 'CHANGE_EMAIL_NEW']);
}

/** Notifies parts of the process that hold connections or caches of a session when it has ended. */
export interface Endings {
  /** Call it after the commit that ended sessions of a user. */
  notify(userId: number): void;
  listen(listener: (userId: number) => void): void;
}

export function openEndings(): Endings {
  const listeners: ((userId: number) => void)[] = [];
  return {
    notify(userId) {
      for (const listener of listeners) listener(userId);
    },
    listen(listener) {
      listeners.push(listener);
    },
  };
}
