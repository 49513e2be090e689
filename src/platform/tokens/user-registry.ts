import type { JSONWebKeySet, JWTPayload } from 'jose';
import type { Settings } from '../settings.ts';

/** What one service asks of the users' registry when the other, in the same process, is it. */
export interface UserRegistry {
  /** The keys that its tokens are signed with. */
  publicKeys(): Promise<JSONWebKeySet>;
  /** The user who has a contact, and whether they want to be found; undefined if nobody has it. */
  findHolder(contact: string): Promise<{ user_id: string; discoverable: boolean } | undefined>;
  /** Whether a token that it signed still counts: false after a logout, a password change or a deactivation. */
  stillCounts(claims: JWTPayload): Promise<boolean>;
  /** Calls the listener with a user's `sub` when some of their tokens have ended in this process. */
  onEnded(listener: (userId: string) => void): void;
}

/** Whether the settings name a registry of users, which then counts instead of the trace backend beside. */
export function namesRegistry(
  settings: Pick<Settings, 'USER_REGISTRY_JWT_SECRET' | 'USER_REGISTRY_JWKS_URL' | 'USER_REGISTRY_URL'>,
): boolean {
  const { USER_REGISTRY_JWT_SECRET, USER_REGISTRY_JWKS_URL, USER_REGISTRY_URL } = settings;
  return (USER_REGISTRY_JWT_SECRET ?? USER_REGISTRY_JWKS_URL ?? USER_REGISTRY_URL) !== undefined;
}
